# functions of scores that are no graphs of single elements, and calls of other forms
nereid graph flex-printed-sum.py
nereid graph flex-printed-class.py
nereid graph flex-printed-inputs.py
nereid graph flex-printed-rank.py
