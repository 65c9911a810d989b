#!/usr/bin/env python3
"""The picture of README.md: the threads of a Python server on the runtimes of its packages, and on heddle.

usage: process_figure.py count            plays the server and prints its kernel threads; needs scikit-learn and lightgbm.
                                          Run it by `heddle run -- python3 ...` for the figures of heddle.
       process_figure.py draw OUT.svg     the picture
"""
import os
import sys

REQUESTS, TEAM = 4, 4  # The threads that answer requests, and the threads of each OpenMP region.
MODELS = ('scikit-learn', 'LightGBM')


def count():
    """Each of REQUESTS threads asks both models, again and again; the kernel threads are counted meanwhile."""
    import threading
    import warnings

    os.environ.update(OPENBLAS_NUM_THREADS='1')  # OpenBLAS has threads of its own everywhere; they are not counted.
    import lightgbm
    import numpy
    from sklearn.ensemble import HistGradientBoostingClassifier

    warnings.filterwarnings('ignore')
    random = numpy.random.default_rng(1)
    rows = random.normal(size=(20000, 10))
    labels = (rows.sum(axis=1) > 0).astype(int)
    models = [HistGradientBoostingClassifier(max_iter=20).fit(rows, labels),
              lightgbm.LGBMClassifier(n_estimators=20, n_jobs=TEAM, verbose=-1).fit(rows, labels)]
    before = len(os.listdir('/proc/self/task'))
    met, ended = threading.Barrier(REQUESTS + 1), threading.Barrier(REQUESTS + 1)

    def answer():
        met.wait()
        for _ in range(20):
            for model in models:
                model.predict(rows)
        ended.wait()
        ended.wait()

    threads = [threading.Thread(target=answer) for _ in range(REQUESTS)]
    for thread in threads:
        thread.start()
    met.wait()
    ended.wait()
    print(f'kernel threads: {before} before the requests, {len(os.listdir("/proc/self/task"))} with {REQUESTS} threads that answer')
    ended.wait()


KERNEL, USER, PROCESSOR, TEXT = '#2a5d9c', '#2a5d9c', '#d7d7d7', '#222222'
LEFT, COLUMN, SIDE = 150, 66, 14  # Where the first request stands, the distance to the next, and the side of a thread.


def kernel_thread(x, y):
    return f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" rx="2" fill="{KERNEL}"/>'


def user_thread(x, y):
    return f'<circle cx="{x + SIDE / 2}" cy="{y + SIDE / 2}" r="{SIDE / 2 - 1}" fill="white" stroke="{USER}" stroke-width="1.6"/>'


def text(x, y, words, size=12, weight='normal', anchor='start'):
    return (f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
            f'fill="{TEXT}">{words}</text>')


def panel(x, title, teams, member, workers, end):
    """One side: the requests, rows of teams, workers if there are any, the processors."""
    out = [text(x, 22, title, 14, 'bold'), text(x, 59, 'request threads')]
    columns = [x + LEFT + n * COLUMN for n in range(REQUESTS)]
    out += [kernel_thread(c + 18, 48) for c in columns]
    for row, name in enumerate(teams):
        y = 86 + row * 38
        out.append(text(x, y + 11, name))
        for c in columns:
            out.append(f'<line x1="{c + 25}" y1="{y - 23 if row == 0 else y - 24}" x2="{c + 25}" y2="{y}" stroke="#999999"/>')
            out += [member(c + n * 18, y) for n in range(TEAM - 1)]
    if workers:
        out.append(text(x, 165, "heddle's workers"))
        out.append(f'<path d="M{columns[0]} 112 v8 h{columns[-1] - columns[0] + 50} v-8" fill="none" stroke="#999999"/>')
        out += [f'<line x1="{c + 25}" y1="120" x2="{c + 25}" y2="154" stroke="#999999"/>' for c in columns]
        out += [kernel_thread(c + 18, 154) for c in columns]
    out.append(text(x, 205, 'processors'))
    out += [f'<rect x="{c}" y="192" width="50" height="18" rx="3" fill="{PROCESSOR}"/>' for c in columns]
    out.append(text(x, 240, end, 13, 'bold'))
    return out


def draw(path):
    members = REQUESTS * (TEAM - 1)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 290" font-family="sans-serif">',
           '<rect width="920" height="290" fill="white"/>']
    out += panel(20, 'On the runtimes of its packages', [f'teams of {m}' for m in MODELS], kernel_thread, False,
                 f'{REQUESTS + len(MODELS) * members} kernel threads compete for {TEAM} processors')
    out += panel(490, 'The same program, started by heddle run', ['teams of both'], user_thread, True,
                 f'{REQUESTS + TEAM} kernel threads; {members} user-level threads share {TEAM} of them')
    out += [kernel_thread(20, 263), text(40, 275, 'kernel thread'), user_thread(140, 263),
            text(160, 275, 'user-level thread: if it waits in OpenMP, its worker runs another one'), '</svg>']
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(out) + '\n')


if __name__ == '__main__':
    if sys.argv[1:] == ['count']:
        count()
    elif len(sys.argv) == 3 and sys.argv[1] == 'draw':
        draw(sys.argv[2])
    else:
        sys.exit(__doc__.strip())
