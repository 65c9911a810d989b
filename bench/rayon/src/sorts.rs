//! quicksort, mergesort: see the headers of the same names in bench/.

use crate::harness::{mix64, Context, Digest};
use rayon::join;

const INSERTION: usize = 24;
const SORT_SPAWN: usize = 512;
const MERGE_SPAWN: usize = 4096;

fn insertion_sort(v: &mut [u32]) {
    for i in 1..v.len() {
        let value = v[i];
        let mut hole = i;
        while hole > 0 && v[hole - 1] > value {
            v[hole] = v[hole - 1];
            hole -= 1;
        }
        v[hole] = value;
    }
}

fn partition(v: &mut [u32]) -> usize {
    let (last, middle) = (v.len() - 1, v.len() / 2);
    if v[middle] < v[0] {
        v.swap(middle, 0);
    }
    if v[last] < v[middle] {
        v.swap(last, middle);
    }
    if v[middle] < v[0] {
        v.swap(middle, 0);
    }
    let pivot = v[middle];
    let (mut low, mut high) = (0, last);
    // The ends are no less and no greater than the pivot, so neither search leaves the slice.
    unsafe {
        loop {
            while *v.get_unchecked(low) < pivot {
                low += 1;
            }
            while pivot < *v.get_unchecked(high) {
                high -= 1;
            }
            if low >= high {
                return high + 1;
            }
            v.swap(low, high);
            low += 1;
            high -= 1;
        }
    }
}

fn quicksort_task(mut v: &mut [u32]) {
    while v.len() > INSERTION {
        let middle = partition(v);
        let parallel = v.len() > SORT_SPAWN;
        let (left, right) = v.split_at_mut(middle);
        if parallel {
            join(|| quicksort_task(left), || quicksort_task(right));
            return;
        }
        quicksort_task(left);
        v = right;
    }
    insertion_sort(v);
}

fn random_numbers(n: usize) -> Vec<u32> {
    (0..n).map(|i| mix64(i as u64) as u32).collect()
}

fn digest_of(v: &[u32]) -> u64 {
    let mut d = Digest::default();
    v.iter().for_each(|&x| d.add(x.into()));
    d.value()
}

pub fn quicksort(c: &Context) {
    let input = random_numbers(c.n());
    c.run(|| {
        c.measure(
            "time",
            "ms",
            1e3,
            &mut input.clone(),
            |v| v.copy_from_slice(&input),
            |v| quicksort_task(v),
            |v| digest_of(v),
        )
    });
}

fn merge_leaf(mut a: &[u32], mut b: &[u32], out: &mut [u32]) {
    let mut filled = 0;
    while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
        let second = y < x;
        out[filled] = if second { y } else { x };
        filled += 1;
        b = &b[usize::from(second)..];
        a = &a[usize::from(!second)..];
    }
    let rest = if a.is_empty() { b } else { a };
    out[filled..].copy_from_slice(rest);
}

fn merge_task<'a>(mut a: &'a [u32], mut b: &'a [u32], out: &mut [u32]) {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    if out.len() <= MERGE_SPAWN {
        return merge_leaf(a, b, out);
    }
    let (a_left, a_right) = a.split_at(a.len() / 2);
    let (b_left, b_right) = b.split_at(b.partition_point(|x| *x < a_right[0]));
    let (out_left, out_right) = out.split_at_mut(a_left.len() + b_left.len());
    join(
        || merge_task(a_left, b_left, out_left),
        || merge_task(a_right, b_right, out_right),
    );
}

fn mergesort_task(v: &mut [u32], other: &mut [u32], into_other: bool) {
    let n = v.len();
    if n <= INSERTION {
        insertion_sort(v);
        if into_other {
            other.copy_from_slice(v);
        }
        return;
    }
    {
        let (v_left, v_right) = v.split_at_mut(n / 2);
        let (o_left, o_right) = other.split_at_mut(n / 2);
        if n > SORT_SPAWN {
            join(
                || mergesort_task(v_left, o_left, !into_other),
                || mergesort_task(v_right, o_right, !into_other),
            );
        } else {
            mergesort_task(v_left, o_left, !into_other);
            mergesort_task(v_right, o_right, !into_other);
        }
    }
    let (from, to) = if into_other { (v, other) } else { (other, v) };
    let (left, right) = from.split_at(n / 2);
    merge_task(left, right, to);
}

pub fn mergesort(c: &Context) {
    let input = random_numbers(c.n());
    c.run(|| {
        let mut state = (input.clone(), vec![0u32; c.n()]);
        c.measure(
            "time",
            "ms",
            1e3,
            &mut state,
            |s| s.0.copy_from_slice(&input),
            |s| mergesort_task(&mut s.0, &mut s.1, false),
            |s| digest_of(&s.0),
        );
    });
}
