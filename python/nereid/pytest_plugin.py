"""A plugin of pytest: `pytest --as-triton` runs tests of Triton's kernels under Nereid."""


def pytest_addoption(parser):
    parser.addoption(
        "--as-triton", action="store_true", help="import nereid where tests import triton"
    )


def pytest_load_initial_conftests(early_config, parser, args):
    """Before any conftest.py, which may import triton."""
    if early_config.known_args_namespace.as_triton:
        from nereid.drop_in import install_as_triton

        install_as_triton(children=True)


def pytest_report_header(config):
    return "triton: nereid" if config.getoption("--as-triton") else None
