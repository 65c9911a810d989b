"""PyTorch's own databases of operators and modules as tests: the wheel brings the databases, but not the files that use them.

Each operator that has a reference of NumPy or Python gets PyTorch's own sample inputs and is compared with it; those without
one, and the modules, are computed by one thread and by all, forwards and backwards where they are differentiable.
"""
import warnings

import numpy
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

MOST_SAMPLES = 3
DTYPES = (torch.float32, torch.int64)
# Results that are not determined by the arguments: random, uninitialised, or up to a sign, an order or a basis.
UNDETERMINED = ('empty', 'rand', 'normal', 'bernoulli', 'multinomial', 'dropout', 'exponential', 'cauchy', 'geometric', 'uniform',
                'log_normal', 'new_empty', 'svd', 'eig', 'qr', 'lu', 'pca_lowrank', 'svd_lowrank', 'rrelu', 'ldl', 'gels', 'lstsq',
                'geqrf', 'ormqr', 'householder', 'fractional_max_pool', 'scaled_dot_product', 'sparse.sampled_addmm')


def cases():
    for op in op_db:
        if any(word in op.name for word in UNDETERMINED):
            continue
        supported = op.supported_dtypes('cpu')
        for dtype in DTYPES:
            if dtype in supported:
                name = '_'.join(filter(None, (op.name, op.variant_test_name, str(dtype).split('.')[1])))
                yield pytest.param(op, dtype, id=name)


def samples_of(op, dtype, requires_grad=False):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for sample in op.sample_inputs('cpu', dtype, requires_grad=requires_grad):
            found.append(sample)
            if len(found) == MOST_SAMPLES:
                break
    return found


def all_and_one(compute):
    """The results with all threads and with one, on arguments that are the same."""
    threads = torch.get_num_threads()
    torch.manual_seed(1)
    by_all = compute()
    try:
        torch.set_num_threads(1)
        torch.manual_seed(1)
        by_one = compute()
    finally:
        torch.set_num_threads(threads)
    return by_all, by_one


def same(a, b):
    if isinstance(a, torch.Tensor) and a.layout != torch.strided:
        a, b = a.to_dense(), b.to_dense()
    if isinstance(a, torch.Tensor):
        torch.testing.assert_close(a, b, equal_nan=True, rtol=1e-4, atol=1e-4)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b or a != a


def as_numpy(x):
    return x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else x


@pytest.mark.parametrize('op,dtype', cases())
def test_operator(op, dtype):
    torch.manual_seed(7)
    numpy.random.seed(7)
    for sample in samples_of(op, dtype):
        by_all, by_one = all_and_one(lambda s=sample: op(s.input, *s.args, **s.kwargs))
        same(by_all, by_one)


@pytest.mark.parametrize('op', [pytest.param(op, id='_'.join(filter(None, (op.name, op.variant_test_name)))) for op in op_db
                                if getattr(op, 'ref', None) is not None and torch.float64 in op.supported_dtypes('cpu')
                                and not any(word in op.name for word in UNDETERMINED)])
def test_reference(op):
    torch.manual_seed(7)
    numpy.random.seed(7)
    for sample in samples_of(op, torch.float64):
        got = op(sample.input, *sample.args, **sample.kwargs)
        s = sample.numpy()
        expected = op.ref(s.input, *s.args, **s.kwargs)
        if isinstance(got, torch.Tensor):
            numpy.testing.assert_allclose(as_numpy(got), numpy.asarray(as_numpy(expected)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize('op', [pytest.param(op, id='_'.join(filter(None, (op.name, op.variant_test_name)))) for op in op_db
                                if op.supports_autograd and torch.float64 in op.supported_backward_dtypes('cpu')
                                and not any(word in op.name for word in UNDETERMINED)])
def test_backward(op):
    torch.manual_seed(7)
    for sample in samples_of(op, torch.float64, True):
        given = [x for x in (sample.input, *sample.args) if isinstance(x, torch.Tensor) and x.requires_grad]

        def gradients(s=sample, given=given):
            out = op(s.input, *s.args, **s.kwargs)
            if s.output_process_fn_grad is not None:
                out = s.output_process_fn_grad(out)
            outs = [o for o in (out if isinstance(out, (tuple, list)) else (out,))
                    if isinstance(o, torch.Tensor) and o.requires_grad]
            if not outs or not given:
                return ()
            found = torch.autograd.grad([o.sum() if not o.is_complex() else o.abs().sum() for o in outs], given,
                                        allow_unused=True)
            return [g for g in found if g is not None]

        same(*all_and_one(gradients))


@pytest.mark.parametrize('info', [pytest.param(m, id=m.name) for m in module_db])
def test_module(info):
    torch.manual_seed(7)
    for training in (False, True):
        inputs = info.module_inputs_func(info, device='cpu', dtype=torch.float64, requires_grad=True, training=training)
        for given in inputs[:MOST_SAMPLES]:
            if given.forward_input is None:
                continue
            c, f = given.constructor_input, given.forward_input

            def compute(c=c, f=f, training=training):
                torch.manual_seed(3)
                module = info.module_cls(*c.args, **c.kwargs).to(torch.float64).train(training)
                return module(*f.args, **f.kwargs)

            same(*all_and_one(compute))


@pytest.mark.parametrize('shape', [(257, 129, 65), (1000, 300, 200), (2, 100000, 3)])
@pytest.mark.parametrize('dtype', [torch.float32, torch.float64])
def test_large_products(shape, dtype):
    torch.manual_seed(7)
    m, k, n = shape
    a, b = torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype)
    numpy.testing.assert_allclose((a @ b).numpy(), a.numpy() @ b.numpy(), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize('n', [100_000, 3_000_000])
def test_large_elementwise(n):
    a = torch.linspace(-3, 3, n, dtype=torch.float64)
    numpy.testing.assert_allclose((a.exp() + a.sin() * a).numpy(), numpy.exp(a.numpy()) + numpy.sin(a.numpy()) * a.numpy(), rtol=1e-9)
    numpy.testing.assert_allclose(a.sum().item(), a.numpy().sum(), atol=1e-6)
    assert torch.equal(a.flip(0).sort().values, a)
