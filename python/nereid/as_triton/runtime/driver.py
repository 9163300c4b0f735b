"""What `triton.runtime.driver` has."""

from nereid.runtime.active import DriverBase, DriverConfig, driver
