"""@autotune and @heuristics: values of a kernel's constants that are not the caller's to give."""

from __future__ import annotations

import functools
import threading
import time
import types

from nereid.errors import AutotunerError
from nereid.runtime.jit import JITFunction, KernelInterface

_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
_HIDDEN = object()  # the key of copies among a call's arguments, which no hook of the user's sees


class Config:
    """Values for constants of a kernel, and options for compiling it.

    `pre_hook` is called with all arguments before each launch with this configuration."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None,
                 ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def __setstate__(self, state):
        self.__init__({})
        self.__dict__.update(state)

    def all_kwargs(self) -> dict:
        """The constants and the options as keyword arguments of a launch."""
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self) -> str:
        options = {name: getattr(self, name) for name in _OPTIONS[:4]}
        return ", ".join(f"{k}: {v}" for k, v in [*self.kwargs.items(), *options.items()])

    def __repr__(self) -> str:
        return f"Config({self})"

    def _key(self) -> tuple:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other) -> bool:
        return isinstance(other, Config) and self._key() == other._key()


def _prints() -> bool:
    from nereid import knobs

    return knobs.autotuning.print


def _nothing_before(kwargs, reset_only=False):
    pass


def _nothing_after(kwargs, exception):
    pass


class Autotuner(KernelInterface):
    """A kernel that is launched with the fastest of its configurations.

    Configurations are measured when the arguments named by `keys`, or dtypes, are new, on the
    arguments of that call; what was measured is recorded (`nereid records`), so that a later
    process measures only what is new: another kernel, configuration, problem or device."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, pre_hook=None,
                 post_hook=None, prune_configs_by=None, warmup=None, rep=None,
                 use_cuda_graph=False, do_bench=None, cache_results=False):
        prune = prune_configs_by or {}
        self.fn = fn
        self.arg_names = arg_names
        self.configs = configs or [Config({}, num_warps=4, num_stages=3, num_ctas=1)]
        self.keys = key
        self.cache: dict[tuple, Config] = {}
        self.cache_results = cache_results
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.user_defined_pre_hook = bool(pre_hook)
        self.user_defined_post_hook = bool(post_hook)
        changes = self.reset_to_zero or self.restore_value
        self.pre_hook = pre_hook or (self._reset if changes else _nothing_before)
        self.post_hook = post_hook or (self._restore if self.restore_value else _nothing_after)
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self._lock = threading.RLock()
        self._names = frozenset(arg_names)
        self._positions = [arg_names.index(name) for name in key if name in self._names]
        self._known: dict[tuple, tuple] = {}  # what is quick to make of a call, to its key
        self._arguments: dict[int, tuple] = {}  # (configuration, its all_kwargs()) by its id
        if warmup is not None or rep is not None or use_cuda_graph:
            self._bench_as_told(warmup, rep, use_cuda_graph)
        self.base_fn = fn
        while not isinstance(self.base_fn, types.FunctionType):
            self.base_fn = self.base_fn.fn

    def _bench_as_told(self, warmup, rep, use_cuda_graph):
        import warnings

        warnings.warn("warmup, rep, and use_cuda_graph parameters are deprecated. See "
                      "https://github.com/triton-lang/triton/pull/4496 for details.",
                      DeprecationWarning, stacklevel=4)
        rep = 100 if rep is None else rep
        warmup = 25 if warmup is None else warmup

        def with_graph(call, quantiles):
            from nereid.testing import do_bench_cudagraph

            return do_bench_cudagraph(call, rep=rep, quantiles=quantiles)

        def with_times(call, quantiles):
            from nereid.testing import do_bench

            return do_bench(call, warmup=warmup, rep=rep, quantiles=quantiles)

        self._do_bench = with_graph if use_cuda_graph else with_times

    @property
    def do_bench(self):
        """do_bench(call, quantiles): the user's function that measures, or the default one."""
        from nereid.testing import do_bench

        return self._do_bench or do_bench

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "_lock"}

    def __setstate__(self, state):
        self.__dict__.update(state, _lock=threading.RLock())

    # ---- tensors that a kernel changes ----

    def _reset(self, kwargs, reset_only=False):
        for name in self.reset_to_zero:
            _fill_zero(kwargs[name])
        if not reset_only and self.restore_value:
            kwargs[_HIDDEN] = {name: _copy(kwargs[name]) for name in self.restore_value}

    def _restore(self, kwargs, exception):
        for name, copy in kwargs.pop(_HIDDEN, {}).items():
            _copy_to(kwargs[name], copy)

    # ---- calls ----

    def __getitem__(self, grid):
        if type(self).run is not Autotuner.run:  # a derived class has its own
            return super().__getitem__(grid)
        return functools.partial(self._call, grid)

    def _call(self, grid, /, *args, **kwargs):
        """What run() does, by a shorter way where the configuration is known."""
        config = self._chosen(args, kwargs)
        if kwargs or config is None or config.pre_hook is not None or \
                type(self.fn) is not JITFunction:
            return self.run(*args, grid=grid, warmup=False, **kwargs)
        self.best_config = config
        return self.fn._launch(grid, args, self._all_kwargs(config))

    def run(self, *args, **kwargs):
        """Launches the kernel with the best configuration, which is found first if need be."""
        config = self._chosen(args, kwargs)
        if config is None:
            config = self._config_for(args, dict(zip(self.arg_names, args)), kwargs)
        self.best_config = config
        chosen = self._all_kwargs(config)
        if config.pre_hook is not None:
            config.pre_hook({**dict(zip(self.arg_names, args)), **kwargs, **chosen})
        return self.fn.run(*args, **kwargs, **chosen)

    def _chosen(self, args: tuple, kwargs: dict) -> Config | None:
        """The configuration for these arguments if it is known."""
        if len(self.configs) == 1:
            return self.configs[0]
        key = self._known.get(self._quick_key(args, kwargs))
        return None if key is None else self.cache.get(key)

    def _quick_key(self, args: tuple, kwargs: dict) -> tuple:
        """Tells apart what _tuning_key() does, and more."""
        n = len(args)
        out = [_key_part(args[i]) for i in self._positions if i < n]
        for value in args:
            out += (getattr(value, "dtype", None), getattr(value, "is_cuda", None))
        for name, value in kwargs.items():
            if name in self._names:
                kind = _key_part(value) if name in self.keys else getattr(value, "dtype", None)
                out += (name, kind, getattr(value, "is_cuda", None))
        return tuple(out)

    def _all_kwargs(self, config: Config) -> dict:
        """config.all_kwargs(), made once; nobody may change it."""
        found = self._arguments.get(id(config))
        if found is None or found[0] is not config:
            found = self._arguments[id(config)] = config, config.all_kwargs()
        return found[1]

    def warmup(self, *args, **kwargs):
        """Compiles each configuration, and launches none; gives the list of compiled kernels."""
        nargs = dict(zip(self.arg_names, args))
        return [self.fn.warmup(*args, **kwargs, **config.all_kwargs())
                for config in self._pruned(nargs, kwargs)]

    def estimate(self, *args, grid, target=None, **kwargs):
        """How long a launch will take with the configuration that the cost model expects to be the
        fastest, which `config` of the result is; `others` has the rest.  Nothing runs."""
        from nereid.runtime.estimate import estimate_configs
        from nereid.runtime.tuning import check_conflicts

        def of_config(config):
            check_conflicts(config, kwargs)
            return self.fn.estimate(*args, grid=grid, target=target, **kwargs,
                                    **config.all_kwargs())

        return estimate_configs(self._pruned(dict(zip(self.arg_names, args)), kwargs), of_config)

    def _tuning_key(self, nargs: dict, kwargs: dict) -> tuple:
        given = {k: v for k, v in {**nargs, **kwargs}.items() if k in self.arg_names}
        dtypes = [str(v.dtype) for v in given.values() if hasattr(v, "dtype")]
        places = {getattr(v, "is_cuda", None) for v in given.values()}
        # What was chosen for a CPU may be too much for a GPU; Triton has GPUs alone.
        host = ["cpu"] if False in places and True not in places else []
        parts = [_key_part(given[name]) for name in self.keys if name in given]
        return tuple(parts + dtypes + host)

    def _config_for(self, args: tuple, nargs: dict, kwargs: dict) -> Config:
        key = self._tuning_key(nargs, kwargs)
        with self._lock:  # another thread that wants the same waits for it
            if key not in self.cache:
                self._tune(key, args, nargs, kwargs)
            self._known[self._quick_key(args, kwargs)] = key
            return self.cache[key]

    def _tune(self, key: tuple, args: tuple, nargs: dict, kwargs: dict) -> None:
        if self._is_interpreted():  # no time of an interpreter tells anything
            self.cache[key] = self._pruned(nargs, kwargs)[0]
            return
        from nereid.runtime.tuning import Tuning

        begin = time.perf_counter()
        configs = self._pruned(nargs, kwargs)
        if self._is_interpreted():  # where times mean nothing
            self.cache[key] = configs[0]
            return
        tuning = Tuning(self, key, args, nargs, kwargs, configs, _prints())
        try:
            timings = tuning.run()
        except BaseException:
            for name in self.reset_to_zero:  # what the runs so far have added up
                if tuning.measured and not self.user_defined_pre_hook:
                    _fill_zero({**nargs, **kwargs}[name])
            raise
        best = min(timings, key=timings.get)
        self.bench_time = seconds = time.perf_counter() - begin
        self.configs_timings = timings
        if tuning.measured:
            self.pre_hook({**nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
        if _prints():
            how = f"{tuning.measured} of {len(configs)} configurations measured"
            print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                  f"finished after {seconds:.2f}s ({how}),\nbest config selected: {best};")
        self.cache[key] = best

    def _is_interpreted(self) -> bool:
        fn = self.fn
        while isinstance(fn, (Autotuner, Heuristics)):
            fn = fn.fn
        return getattr(fn, "interpret", False)

    def _bench(self, *args, config, **meta) -> list[float]:
        """The median and two quantiles of a configuration's times, for derived classes that choose
        by themselves: nothing is recorded."""
        from nereid.runtime.tuning import Tuning

        nargs = dict(zip(self.arg_names, args))
        tuning = Tuning(self, (), args, nargs, meta, [config], _prints(), recorded=False)
        return tuning.run()[config]

    # ---- pruning ----

    def prune_configs(self, kwargs: dict) -> list[Config]:
        """The configurations to measure for these arguments by name; those by position are in
        `nargs`, which a derived class may set."""
        return self._pruned(getattr(self, "nargs", None) or {}, kwargs)

    def _pruned(self, nargs: dict, kwargs: dict) -> list[Config]:
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(self.configs, nargs, **kwargs)
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. "
                                     "`early_config_prune` should return at least one config.")
        return self._top(configs, nargs, kwargs) if self.perf_model else configs

    def _top(self, configs: list[Config], nargs: dict, kwargs: dict) -> list[Config]:
        top_k = self.configs_top_k
        if isinstance(top_k, float) and top_k <= 1.0:
            top_k = int(len(self.configs) * top_k)
        elif not isinstance(top_k, int):
            raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 "
                            "or 2) an int")
        if len(configs) <= top_k:
            return configs
        expected = {c: self.perf_model(**nargs, **kwargs, **c.all_kwargs()) for c in configs}
        return sorted(expected, key=expected.get)[:top_k]


_SIMPLE = frozenset((int, str, float, bool, type(None)))


def _key_part(value):
    """The part of a key for an argument: a number or a text itself, the items of a list, and the
    dtype and shape of an array: another array of the same shape needs no other configuration."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, (tuple, list)):
        return tuple(map(_key_part, value))
    if isinstance(value, dict):
        return tuple((name, _key_part(item)) for name, item in value.items())
    if not hasattr(value, "data_ptr"):  # a tensor's hash is that of the object
        try:
            hash(value)
            return value
        except TypeError:
            pass
    dtype = getattr(value, "dtype", None) or getattr(getattr(value, "base", None), "dtype", None)
    shapes = [getattr(value, name, ()) for name in ("shape", "block_shape")]
    return (type(value).__name__, str(dtype), *(tuple(map(int, shape)) for shape in shapes))


def _fill_zero(tensor) -> None:
    if hasattr(tensor, "zero_"):
        tensor.zero_()
    else:
        tensor[...] = 0


def _copy(tensor):
    return tensor.clone() if hasattr(tensor, "clone") else tensor.copy()


def _copy_to(tensor, copy) -> None:
    if hasattr(tensor, "copy_"):
        tensor.copy_(copy)
    else:
        tensor[...] = copy


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None,
             pre_hook=None, post_hook=None, warmup=None, rep=None, use_cuda_graph=False,
             do_bench=None, cache_results=False):
    """Launches a kernel with the fastest of `configs`; when an argument of `key` changes, it is
    found anew.

        @nereid.autotune([nereid.Config({"BLOCK": 128}), nereid.Config({"BLOCK": 1024})], key=["n"])
        @nereid.jit
        def kernel(x, n, BLOCK: tl.constexpr): ...

    While configurations are measured the kernel runs many times on the arguments of the call:
    tensors named by `reset_to_zero` are filled with zeros before each run, those named by
    `restore_value` get their contents back.  `prune_configs_by` has the functions
    "early_config_prune"(configs, named arguments, **kwargs), which gives the configurations to
    measure, and "perf_model"(**arguments), by whose result the first "top_k" are kept.
    `pre_hook`(arguments, reset_only=False) and `post_hook`(arguments, exception) replace the two
    ways of keeping tensors; `do_bench`(call, quantiles) replaces measuring.  `warmup`, `rep` and
    `use_cuda_graph` are deprecated.  Results are always recorded, so `cache_results` changes
    nothing; with NEREID_CACHE_DIR set to nothing they are not."""

    def decorate(fn):
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value,
                         pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep,
                         use_cuda_graph=use_cuda_graph, do_bench=do_bench,
                         cache_results=cache_results)

    return decorate


class Heuristics(KernelInterface):
    """A kernel some of whose constants are functions of its arguments."""

    def __init__(self, fn, arg_names, values) -> None:
        self.fn = fn
        self.values = values
        self.arg_names = arg_names

    def with_values(self, args: tuple, kwargs: dict) -> dict:
        """`kwargs` with the constants for these arguments."""
        out = dict(kwargs)
        named = {**dict(zip(self.arg_names, args)), **kwargs}
        for name, function in self.values.items():
            out[name] = named[name] = function(named)
        return out

    def run(self, *args, **kwargs):
        return self.fn.run(*args, **self.with_values(args, kwargs))

    def warmup(self, *args, **kwargs):
        return self.fn.warmup(*args, **self.with_values(args, kwargs))

    def estimate(self, *args, grid, target=None, **kwargs):
        """How long a launch will take, as JITFunction.estimate()."""
        return self.fn.estimate(*args, grid=grid, target=target, **self.with_values(args, kwargs))


def heuristics(values):
    """Computes constants of a kernel from its arguments: {name: function of {name: argument}}.

        @nereid.heuristics({"BLOCK": lambda args: nereid.next_power_of_2(args["n"])})
        @nereid.jit
        def kernel(x, n, BLOCK: tl.constexpr): ...
    """

    def decorate(fn):
        return Heuristics(fn, fn.arg_names, values)

    return decorate
