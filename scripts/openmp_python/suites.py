"""Which tests of which packages: names as pytest's --pyargs takes them, and what is left out of them."""
import dataclasses
import os

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    package: str          # left out where this cannot be imported
    tests: tuple
    options: tuple = ()   # of pytest
    openmp: bool = True   # the package uses OpenMP


SUITES = (
    Suite('numpy linalg', 'numpy', ('numpy.linalg', 'numpy.fft', 'numpy._core.tests.test_multithreading'), openmp=False),
    Suite('scipy linalg', 'scipy', ('scipy.linalg.tests.test_basic', 'scipy.linalg.tests.test_decomp', 'scipy.fft',
                                    'scipy.spatial.tests.test_kdtree'), openmp=False),
    Suite('sklearn boosting', 'sklearn', ('sklearn.ensemble._hist_gradient_boosting',)),
    Suite('sklearn clusters', 'sklearn', ('sklearn.cluster.tests.test_k_means', 'sklearn.cluster.tests.test_bisect_k_means',
                                          'sklearn.cluster.tests.test_hdbscan')),
    Suite('sklearn distances', 'sklearn', ('sklearn.metrics.tests.test_pairwise_distances_reduction',
                                           'sklearn.metrics.tests.test_pairwise', 'sklearn.neighbors.tests.test_neighbors',
                                           'sklearn.manifold.tests.test_t_sne')),
    Suite('sklearn threads', 'sklearn', ('sklearn.utils.tests.test_parallel', 'sklearn.tests.test_config',
                                         'sklearn.ensemble.tests.test_forest', 'sklearn.ensemble.tests.test_voting')),
    Suite('torch', 'torch', (os.path.join(HERE, 'torch_ops.py'),)),
)
