"""What `triton.runtime.cache` has that others use: a folder for files a key.

Nereid keeps its own compiled code in a database; these classes serve programs that keep files of
theirs in Triton's cache.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import uuid

from nereid import knobs


class CacheManager:
    """The base of caches that TRITON_CACHE_MANAGER may name."""

    def __init__(self, key, override=False, dump=False):
        pass

    def get_file(self, filename):
        return None

    def put(self, data, filename, binary=True) -> str:
        raise NotImplementedError

    def get_group(self, filename):
        return None

    def put_group(self, filename: str, group: dict):
        raise NotImplementedError


class FileCacheManager(CacheManager):
    """Files in a folder of their own for each key."""

    def __init__(self, key, override=False, dump=False):
        folder = knobs.cache.override_dir if override else knobs.cache.dir
        self.key = key
        self.lock_path = None
        self.cache_dir = os.path.join(knobs.cache.dump_dir if dump else folder, key)
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)
            self.lock_path = os.path.join(self.cache_dir, "lock")

    def _make_path(self, filename) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename) -> bool:
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename):
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data, filename, binary=True) -> str:
        """Writes a file, which others see as a whole or not at all."""
        path = self._make_path(filename)
        draft = f"{path}.{os.getpid()}.{uuid.uuid4().hex}"
        data = data if isinstance(data, bytes) else str(data).encode()
        with open(draft, "wb") as f:
            f.write(data)
        os.replace(draft, path)
        return path

    def get_group(self, filename):
        """The paths of the files that were put together under this name; None if there are none."""
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        with open(path) as f:
            names = json.load(f)["child_paths"]
        return {name: file for name, file in names.items() if os.path.exists(file)}

    def put_group(self, filename: str, group: dict) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def _base32(key: str) -> str:
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def get_cache_manager(key: str) -> CacheManager:
    """The files of a key, a text of hexadecimal digits."""
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), dump=True)


def triton_key() -> str:
    """A text that differs between versions of the compiler."""
    import nereid
    import triton

    return f"{triton.__version__}-nereid-{nereid.__version__}"


def get_cache_key(src, backend, backend_options, env_vars) -> str:
    """The key of a source under options, of hexadecimal digits."""
    text = f"{triton_key()}-{src.hash()}-{backend.hash()}-{backend_options.hash()}-{env_vars}"
    return hashlib.sha256(text.encode()).hexdigest()
