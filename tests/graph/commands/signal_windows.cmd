nereid graph signal_windows.py --device cpu --emit plan | grep -o '^step [^(]*'
