"""programs.py NAME[,NAME...] THREADS_OF_PYTHON REPEAT: programs that are measured, one after the other; a line of JSON each.

The first time that one computes is not counted. What it computes is told, since it has to be the same on every runtime.
"""
import copy
import json
import resource
import sys
import time


def boosting():
    from sklearn.datasets import make_regression
    from sklearn.ensemble import HistGradientBoostingRegressor
    x, y = make_regression(8000, 20, noise=3, random_state=1)
    return lambda: HistGradientBoostingRegressor(max_iter=15, random_state=0).fit(x, y).score(x, y)


def small_boosting():
    from sklearn.datasets import make_regression
    from sklearn.ensemble import HistGradientBoostingRegressor
    x, y = make_regression(1000, 8, noise=3, random_state=1)
    return lambda: HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=15, random_state=0).fit(x, y).score(x, y)


def k_means():
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs
    x, _ = make_blobs(12000, centers=16, n_features=16, cluster_std=4.0, random_state=1)
    return lambda: KMeans(16, n_init=1, max_iter=40, tol=0, random_state=0).fit(x).inertia_


def neighbours():
    import numpy
    from sklearn.metrics import pairwise_distances_argmin_min
    rng = numpy.random.default_rng(1)
    x, y = rng.standard_normal((6000, 32)), rng.standard_normal((4000, 32))
    return lambda: float(pairwise_distances_argmin_min(x, y)[1].sum())


def components():
    import numpy
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    rng = numpy.random.default_rng(1)
    x = rng.standard_normal((2000, 100))

    def compute():
        low = PCA(12, svd_solver='full').fit_transform(x)      # BLAS and LAPACK
        return KMeans(12, n_init=1, max_iter=30, tol=0, random_state=0).fit(low).inertia_   # OpenMP, and BLAS in it
    return compute


def products():
    import torch
    torch.manual_seed(1)
    a, b = torch.randn(600, 600), torch.randn(600, 600)

    def compute():
        c = a
        for _ in range(10):
            c = (c @ b) * 0.04
        return c.double().norm().item()
    return compute


def elements():
    import torch
    a = torch.linspace(-2, 2, 2_000_000)

    def compute():
        c = a
        for _ in range(5):
            c = torch.tanh(c * 1.01 + 0.1)
        return c.double().sum().item()
    return compute


def training():
    import torch
    torch.manual_seed(1)
    x, y = torch.randn(512, 64), torch.randn(512, 1)
    beginning = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                                    torch.nn.Linear(256, 1))

    def compute():
        model = copy.deepcopy(beginning)  # the state of random numbers is the process's, not the thread's
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for _ in range(20):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        return loss.item()
    return compute


def images():
    import torch
    torch.manual_seed(1)
    x = torch.randn(8, 3, 64, 64)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2))

    def compute():
        with torch.no_grad():
            return float(sum(model(x).double().sum().item() for _ in range(3)))
    return compute


def blas():
    import numpy
    a = numpy.random.default_rng(1).standard_normal((900, 900))
    return lambda: float(numpy.linalg.norm(a @ a))


PROGRAMS = {f.__name__: f for f in (boosting, small_boosting, k_means, neighbours, components, products, elements, training,
                                    images, blas)}


def measure(name, threads, repeat):
    compute = PROGRAMS[name]()
    if threads > 1:
        from joblib import Parallel, delayed
        one = compute

        def compute():
            return sum(Parallel(threads, backend='threading')(delayed(one)() for _ in range(threads)))

    seconds, processor = [], []
    value = compute()
    for _ in range(repeat):
        used, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        again = compute()
        seconds.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_SELF)
        processor.append(after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime)
        if abs(again - value) > 1e-4 * abs(value):
            sys.exit(f'{name}: {value} and then {again}')
    print(json.dumps({'name': name, 'seconds': seconds, 'processor': processor, 'value': value}), flush=True)


if __name__ == '__main__':
    for one in sys.argv[1].split(','):
        measure(one, int(sys.argv[2]), int(sys.argv[3]))
