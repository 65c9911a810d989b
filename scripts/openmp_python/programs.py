"""programs.py NAME THREADS_OF_PYTHON REPEAT: one program that is measured, by itself; prints a line of JSON.

The first time it computes is not counted. What it computes is told, since it has to be the same on every runtime.
"""
import json
import resource
import sys
import time


def boosting():
    from sklearn.datasets import make_regression
    from sklearn.ensemble import HistGradientBoostingRegressor
    x, y = make_regression(20000, 20, noise=3, random_state=1)
    return lambda: HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(x, y).score(x, y)


def small_boosting():
    from sklearn.datasets import make_regression
    from sklearn.ensemble import HistGradientBoostingRegressor
    x, y = make_regression(1000, 8, noise=3, random_state=1)
    return lambda: HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=15, random_state=0).fit(x, y).score(x, y)


def k_means():
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs
    x, _ = make_blobs(30000, centers=16, n_features=16, cluster_std=4.0, random_state=1)
    return lambda: KMeans(16, n_init=2, max_iter=40, tol=0, random_state=0).fit(x).inertia_


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
    x = rng.standard_normal((4000, 120))

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
        for _ in range(20):
            c = (c @ b) * 0.04
        return c.double().norm().item()
    return compute


def elements():
    import torch
    a = torch.linspace(-2, 2, 2_000_000)

    def compute():
        c = a
        for _ in range(10):
            c = torch.tanh(c * 1.01 + 0.1)
        return c.double().sum().item()
    return compute


def training():
    import torch
    torch.manual_seed(1)
    x, y = torch.randn(512, 64), torch.randn(512, 1)

    def compute():
        torch.manual_seed(2)
        model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                                    torch.nn.Linear(256, 1))
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for _ in range(60):
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
            return float(sum(model(x).double().sum().item() for _ in range(6)))
    return compute


def blas():
    import numpy
    a = numpy.random.default_rng(1).standard_normal((900, 900))
    return lambda: float(numpy.linalg.norm(a @ a))


PROGRAMS = {f.__name__: f for f in (boosting, small_boosting, k_means, neighbours, components, products, elements, training,
                                    images, blas)}


def main():
    name, threads, repeat = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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
    print(json.dumps({'seconds': seconds, 'processor': processor, 'value': value}))


if __name__ == '__main__':
    main()
