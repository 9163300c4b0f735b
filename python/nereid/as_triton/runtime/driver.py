"""What `triton.runtime.driver` has."""

from nereid.runtime import active
from nereid.runtime.active import DriverBase, DriverConfig

driver = active.driver = DriverConfig()
