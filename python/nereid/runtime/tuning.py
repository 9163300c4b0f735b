"""Finding the fastest configuration for one call of an autotuned kernel: records are asked first;
what is left is compiled at once, then measured one at a time."""

from __future__ import annotations

import os
import threading

from nereid.errors import CompileTimeAssertionFailure, NereidError, OutOfResources, PTXASError

# Failures that rule out a configuration; others are the kernel's or its caller's.
FAILURES = (OutOfResources, CompileTimeAssertionFailure, PTXASError)
_INF = float("inf")


def in_parallel(function, items: list) -> list:
    """[function(item)], on all cores as far as it releases the interpreter's lock.  An exception
    of an item is its result."""
    results: list = [None] * len(items)
    left = iter(range(len(items)))
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                i = next(left, None)
            if i is None:
                return
            try:
                results[i] = function(items[i])
            except Exception as e:
                results[i] = e

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = [threading.Thread(target=work, daemon=True)
               for _ in range(min(cores or 1, len(items)) - 1)]
    try:
        for t in threads:
            t.start()
        work()
        for t in threads:
            t.join()
    except BaseException:
        with lock:
            for _ in left:  # nothing more is begun
                pass
        raise
    return results


def _text(value) -> str:
    """A constant's text in records: the same in each process."""
    return getattr(value, "__qualname__", None) or str(value)


def check_conflicts(config, kwargs: dict) -> None:
    """Raises ValueError if the caller gives what the configuration sets."""
    conflicts = kwargs.keys() & config.kwargs.keys()
    if conflicts:
        raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                         "Make sure that you don't re-define auto-tuned symbols.")


class Candidate:
    """A configuration, with the call that it makes and what is known of its time."""

    def __init__(self, config, nargs: dict, kwargs: dict):
        check_conflicts(config, kwargs)
        self.config = config
        self.kwargs = {**kwargs, **config.all_kwargs()}
        self.arguments = {**nargs, **self.kwargs}
        self.text = " ".join(f"{k}={_text(v)}" for k, v in config.all_kwargs().items())
        self.planned = None  # what it compiles to: nereid.compiler.Plan; None: that is not known
        self.call = None  # the key of its calls
        self.is_compiled = False
        self.key = None  # of the planned kernel
        self.image = None
        self.same: Candidate | None = None  # a candidate with the same code, which is measured
        self.times: list[float] = []  # in milliseconds
        self.told: list[float] = []  # the median and two quantiles that the user's function gave
        self.recorded = None  # (status, median, spread, runs) in microseconds
        self.error: Exception | None = None

    def rule_out(self, error: Exception) -> None:
        """It has failed; raises the error if that is the fault of all."""
        if not isinstance(error, FAILURES):
            raise error
        self.error = error

    @property
    def is_open(self) -> bool:
        return self.recorded is None and self.error is None and self.same is None

    @property
    def has_result(self) -> bool:
        return self.error is not None or 0 < self.quantiles((0.5, 0.25, 0.75))[0] < _INF

    def quantiles(self, shares) -> list[float]:
        if self.recorded:
            status, median, spread, _ = self.recorded
            half = spread / 2
            return [m / 1e3 for m in (median, median - half, median + half)] if not status else \
                [_INF] * 3
        if self.told:
            return self.told
        from nereid.testing import quantiles_of

        return quantiles_of(self.times, shares) if self.times else [_INF] * 3

    def timing(self) -> tuple[float, float, int, bool]:
        """(median, spread, runs, known) as the tuner's policy has them: the median is 0 before it
        was timed, -1 where it can't win; one whose code another has is not timed."""
        if self.error is not None or self.same is not None or self.recorded and self.recorded[0]:
            return -1.0, 0.0, 0, False
        if self.recorded:
            return (*self.recorded[1:], True)
        return (*self.result()[1:], False) if self.times else (0.0, 0.0, 0, False)

    def result(self) -> tuple[int, float, float, int]:
        """(status, median, spread, runs) as records have them."""
        from nereid import _nereid

        if self.error is not None:
            resources = isinstance(self.error, OutOfResources)
            return _nereid.TUNE_RESOURCES if resources else _nereid.TUNE_COMPILE, 0.0, 0.0, 0
        median, low, high = self.quantiles((0.5, 0.25, 0.75))
        return _nereid.TUNE_OK, median * 1e3, abs(high - low) * 1e3, len(self.times) or 1


class Tuning:
    """The search for the fastest of `configs` for one call of `tuner`."""

    def __init__(self, tuner, key: tuple, args: tuple, nargs: dict, kwargs: dict, configs: list,
                 verbose: bool, recorded: bool = True):
        self.tuner, self.args, self.verbose = tuner, args, verbose
        self.recorded = recorded  # records are read and written
        self.candidates = [Candidate(c, nargs, kwargs) for c in configs]
        self.problem = " ".join(f"{name}={_text(value)}" for name, value in zip(tuner.keys, key))
        if tuner._do_bench is not None:
            self.problem += f" by {_text(tuner._do_bench)}"
        self.measured = 0
        self._begun: Candidate | None = None  # its hook before a launch was called, not that after

    def run(self) -> dict:
        """{configuration: [median, 20% and 80% quantiles]} in milliseconds; inf: it can't run."""
        planned = self._plan()
        if planned:
            if self.recorded:
                self._recall()
            self._compile()
        try:
            self._measure([c for c in self.candidates if c.is_open])
        except BaseException as e:
            self._end(e)
            raise
        finally:
            self._share()
            if planned and self.recorded:
                self._remember()
        return {c.config: c.quantiles((0.5, 0.2, 0.8)) for c in self.candidates}

    # ---- what each compiles to ----

    def _plan(self) -> bool:
        """False: nothing is known of what a call compiles, as of a wrapper of the user's."""
        from nereid.compiler import Plan

        source = None
        for c in self.candidates:
            jit, kwargs = _jit_call(self.tuner.fn, self.args, c.kwargs)
            if jit is None:
                return False
            if c.config.pre_hook is not None:
                c.config.pre_hook(c.arguments)  # it may change what arguments are
            c.call, compiled, kind, index, described, _, options = jit._describe(self.args, kwargs)
            try:
                c.planned = Plan(jit, kind, index, described, options or {}, source)
                source = c.planned.source
            except FAILURES as e:
                self._failed(c, e)
            c.is_compiled = compiled is not None
            c.image = compiled.image if c.is_compiled else None
        return True

    # ---- records ----

    def _query(self, c: Candidate) -> tuple:
        plan = c.planned
        return plan.name, plan.signature, self.problem, c.text, c.key, c.image

    def _find(self, candidates: list) -> None:
        from nereid import _nereid

        if not candidates:
            return
        device = candidates[0].planned.device
        found = _nereid.records_find(device, [self._query(c) for c in candidates])
        for c, result in zip(candidates, found):
            c.recorded = result
        self._reopen()

    def _round(self, round_: int):
        """([runs of each candidate], limit in microseconds), or None: the search is over."""
        from nereid import _nereid

        return _nereid.tune_round([c.timing() for c in self.candidates], round_)

    def _reopen(self) -> None:
        """Records whose times are doubtful and would win are measured again; what a function of
        the user's measures is as sure as he wants it."""
        found = None if self.tuner._do_bench is not None else self._round(0)
        for c, runs in zip(self.candidates, found[0] if found else ()):
            if runs and c.recorded:
                c.recorded = None

    def _recall(self) -> None:
        todo = [c for c in self.candidates if c.is_open]
        for c, key in zip(todo, in_parallel(lambda c: c.planned.key(), todo)):
            if isinstance(key, Exception):
                self._failed(c, key)
            else:
                c.key = key
        self._find([c for c in self.candidates if c.is_open])

    def _remember(self) -> None:
        from nereid import _nereid

        new = [c for c in self.candidates if c.key and c.recorded is None and c.has_result]
        if new:
            list_ = [(*self._query(c), *c.result()) for c in new]
            try:
                _nereid.records_store(new[0].planned.device, list_)
            except RuntimeError as e:  # the database can't be written: the next process measures
                import warnings

                warnings.warn(f"measurements were not recorded: {e}", stacklevel=2)

    # ---- compiling ----

    def _compile(self) -> None:
        """Compiles what is not known, at once, and makes the kernel ready for the calls."""
        from nereid.compiler import after_compile, before_compile

        todo, about = [], {}
        for c in self.candidates:
            if not c.is_open or c.is_compiled:
                continue
            about[c] = before_compile(c.planned)
            if about[c] is None:  # which no record shall tell
                c.error, c.key = NereidError("knobs.runtime.jit_cache_hook wants no kernel"), None
            else:
                todo.append(c)
        for c, image in zip(todo, in_parallel(lambda c: c.planned.compile(), todo)):
            if isinstance(image, Exception):
                self._failed(c, image)
            else:
                c.image = image
        todo = [c for c in self.candidates if c.is_open]
        if self.recorded:
            self._find(todo)  # another kernel, or version of Nereid, may have made the same code
        first: dict = {}
        for c in todo:
            # Other constants may change the grid, and a hook may prepare anything.
            key = c.image.key, repr(c.config.kwargs), c.config.pre_hook
            other = first.setdefault(key, c) if c.is_open else c
            c.same = other if other is not c else None
        todo = [c for c in todo if c.is_open and not c.is_compiled]
        for c, kernel in zip(todo, self._load(todo)):
            if isinstance(kernel, Exception):
                self._failed(c, kernel)
            else:
                c.planned.fn._keep(c.call, c.planned.finish(c.image, kernel))
                after_compile(about[c])

    @staticmethod
    def _load(candidates: list) -> list:
        """Kernels of their images, or exceptions."""
        if not candidates:
            return []
        device = candidates[0].planned.device
        try:
            return device.load_all([c.image for c in candidates])
        except RuntimeError:  # which one it was is not known
            return in_parallel(lambda c: device.load(c.image), candidates)

    def _share(self) -> None:
        """Candidates with the same code have the same times."""
        for c in self.candidates:
            if c.same is not None:
                c.times, c.told, c.error = c.same.times, c.same.told, c.same.error

    def _failed(self, c: Candidate, error: Exception) -> None:
        """Compiling has failed, of which hooks of the user's are told as of a launch."""
        self._rule_out(c, error)
        if self.tuner.user_defined_pre_hook or self.tuner.user_defined_post_hook:
            self._before(c)
            self._end(error)

    def _rule_out(self, c: Candidate, error: Exception) -> None:
        c.rule_out(error)
        if self.verbose:
            print(f"Autotuning failed with {error}")

    # ---- measuring ----

    def _before(self, c: Candidate) -> None:
        if c.config.pre_hook:
            c.config.pre_hook(c.arguments)
        self._begun = c
        self.tuner.pre_hook(c.arguments)

    def _launch(self, c: Candidate) -> None:
        """What is measured."""
        try:
            self.tuner.fn.run(*self.args, **c.kwargs)
        except Exception as e:
            self._end(e)
            raise

    def _end(self, error: BaseException | None = None) -> None:
        """Calls the hook after a launch, once, however that ended."""
        c, self._begun = self._begun, None
        if c is not None:
            self.tuner.post_hook(c.arguments, exception=error)

    def _times(self, clock, c: Candidate, n: int) -> list[float]:
        return clock.times(lambda: self._launch(c), n, lambda: self._before(c), self._end)

    def _measure(self, candidates: list) -> None:
        if not candidates:
            return
        if self.tuner._do_bench is not None:
            measure = self._measure_as_told
        else:
            from nereid.testing import clock_of

            plan = candidates[0].planned
            clock = clock_of(plan and plan.device.info()["name"])

            def measure(c):
                self._times(clock, c, 1)  # to warm up
                self._measure_first(clock, c)

        for c in candidates:
            if self.verbose:
                name = self.tuner.base_fn.__name__
                print(f"Autotuning kernel {name} with config {c.config}")
            self.measured += 1
            try:
                measure(c)
            except FAILURES as e:
                c.times, c.told = [], []
                self._rule_out(c, e)
        if self.tuner._do_bench is None:
            self._measure_on(clock)

    def _measure_as_told(self, c: Candidate) -> None:
        def call():
            self._before(c)
            self._launch(c)
            self._end()

        result = self.tuner._do_bench(call, quantiles=(0.5, 0.2, 0.8))
        told = [float(t) for t in result] if hasattr(result, "__iter__") else [float(result)]
        c.told = (told * 3)[:3] if len(told) == 1 else told

    def _measure_first(self, clock, c: Candidate) -> None:
        """Times it as often as the tuner's policy says, or once, if it is far slower than the best
        so far."""
        found = self._round(0)
        runs, limit = (found[0][self.candidates.index(c)], found[1]) if found else (0, 0)
        if runs:
            c.times = self._times(clock, c, 1)
            runs = runs - 1 if 1e3 * c.times[0] <= limit else 0
        c.times = c.times + self._times(clock, c, runs) if runs else c.times

    def _measure_on(self, clock) -> None:
        """The rounds after the first: among those that are near the best, then of the best alone
        while its time is doubtful."""
        round_ = 1
        while found := self._round(round_):
            for c, runs in zip(self.candidates, found[0]):
                c.times += self._times(clock, c, runs) if runs else []
            round_ += 1


def _jit_call(fn, args: tuple, kwargs: dict):
    """The jit function below `fn` and the arguments that reach it; (None, kwargs): not known."""
    from nereid.runtime.autotuner import Heuristics
    from nereid.runtime.jit import JITFunction

    while type(fn) is Heuristics:
        kwargs = fn.with_values(args, kwargs)
        fn = fn.fn
    kwargs = {k: v for k, v in kwargs.items() if k not in ("grid", "warmup")}
    return (fn if type(fn) is JITFunction else None), kwargs
