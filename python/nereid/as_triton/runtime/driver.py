"""What `triton.runtime.driver` has."""

from nereid.runtime.active import DriverConfig, driver
