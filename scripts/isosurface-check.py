#!/usr/bin/env python3
"""isosurface-check.py [--program FILE] [--cells N]: the kernel isosurface against VTK's contour filter.

Volumes are written as legacy VTK files, the program (heddle-bench-heddle, or any other runtime's) extracts surfaces from
them, and VTK extracts the same from the same cells, cut into the same tetrahedra. Prints a table; exit status 1 where the
number of triangles differs, or the area by more than a ten-thousandth. 77: no VTK here (Debian: python3-vtk9).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    from vtkmodules.vtkCommonCore import vtkFloatArray, vtkPoints
    from vtkmodules.vtkCommonDataModel import VTK_TETRA, vtkStructuredPoints, vtkTriangle, vtkUnstructuredGrid
    from vtkmodules.vtkFiltersCore import vtkContourFilter
    from vtkmodules.vtkIOGeometry import vtkOBJReader
    from vtkmodules.vtkIOLegacy import vtkPolyDataReader, vtkStructuredPointsWriter
except ImportError as error:
    print(f"isosurface-check.py: no VTK for Python here ({error}); Debian: apt-get install python3-vtk9", file=sys.stderr)
    sys.exit(77)

# The six tetrahedra of a cell, by corners: bit 0 is x, bit 1 y, bit 2 z.
WAYS = [(0, a, a | b, 7) for a in (1, 2, 4) for b in (1, 2, 4) if a != b]


def tangle(x, y, z):
    return sum(5 * v * v - v * v * v * v for v in (x, y, z)) - 11.8


def noise(x, y, z):
    """Any number between 0 and 1 at each point: surfaces of all cases of the table."""
    seed = hash((round(x * 1024), round(y * 1024), round(z * 1024)))
    return (seed * 2654435761 % 1000003) / 1000003


def volume_of(function, sides, origin, spacing):
    points = vtkStructuredPoints()
    points.SetDimensions(*sides)
    points.SetOrigin(*origin)
    points.SetSpacing(*spacing)
    values = vtkFloatArray()
    values.SetName("value")
    for z in range(sides[2]):
        for y in range(sides[1]):
            for x in range(sides[0]):
                at = (origin[k] + i * spacing[k] for k, i in enumerate((x, y, z)))
                values.InsertNextValue(function(*at))
    points.GetPointData().SetScalars(values)
    return points


def tetrahedra_of(volume):
    grid = vtkUnstructuredGrid()
    points = vtkPoints()
    points.SetDataTypeToDouble()
    for i in range(volume.GetNumberOfPoints()):
        points.InsertNextPoint(volume.GetPoint(i))
    grid.SetPoints(points)
    grid.GetPointData().SetScalars(volume.GetPointData().GetScalars())
    nx, ny, nz = volume.GetDimensions()
    for z in range(nz - 1):
        for y in range(ny - 1):
            for x in range(nx - 1):
                corner = [((z + (c >> 2)) * ny + y + (c >> 1 & 1)) * nx + x + (c & 1) for c in range(8)]
                for way in WAYS:
                    grid.InsertNextCell(VTK_TETRA, 4, [corner[c] for c in way])
    return grid


def measure(surface):
    """Triangles, and their area."""
    area = 0.0
    for i in range(surface.GetNumberOfCells()):
        corners = surface.GetCell(i).GetPoints()
        area += vtkTriangle.TriangleArea(*(corners.GetPoint(k) for k in range(3)))
    return surface.GetNumberOfCells(), area


def contour(volume, level):
    cut = vtkContourFilter()
    cut.SetInputData(tetrahedra_of(volume))
    cut.SetValue(0, level)
    cut.Update()
    return measure(cut.GetOutput())


def extracted(program, volume, level, folder, ending, binary):
    writer = vtkStructuredPointsWriter()
    writer.SetInputData(volume)
    writer.SetFileName(str(folder / "volume.vtk"))
    writer.SetFileType(2 if binary else 1)
    writer.Write()
    output = folder / f"surface.{ending}"
    command = [program, "--kernel", "isosurface", "--input", folder / "volume.vtk", "--level", repr(level),
               "--output", output, "--samples", "1", "--warmup", "0", "--workers", "3", "--variant", "default"]
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    reader = vtkPolyDataReader() if ending == "vtk" else vtkOBJReader()
    reader.SetFileName(str(output))
    reader.Update()
    return measure(reader.GetOutput())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/libexec/heddle/heddle-bench-heddle")
    parser.add_argument("--cells", type=int, default=24, help="cells a side (default: 24)")
    given = parser.parse_args()
    if not pathlib.Path(given.program).exists():
        parser.error(f"--program {given.program}: no such file; build the target heddle_bench_heddle")
    n = given.cells
    if n < 2:
        parser.error(f"--cells {n}: at least 2")
    step = 6 / n
    cases = [
        ("tangle", tangle, (n + 1, n + 1, n + 1), (-3, -3, -3), (step, step, step), (0.013, -3.3, 1.7)),
        ("noise", noise, (n + 1, n // 2 + 1, 3), (1, 2, 3), (0.5, 1, 2), (0.5013, 0.9017)),
    ]
    failed = False
    print(f"{'volume':8} {'level':>7} {'file':4} {'triangles':>9} {'VTK':>9} {'area':>12} {'VTK':>12}")
    for name, function, sides, origin, spacing, levels in cases:
        volume = volume_of(function, sides, origin, spacing)
        for level in levels:
            expected = contour(volume, level)
            for ending, binary in (("vtk", True), ("obj", False)):
                with tempfile.TemporaryDirectory() as folder:
                    found = extracted(given.program, volume, level, pathlib.Path(folder), ending, binary)
                same = found[0] == expected[0] > 0 and abs(found[1] - expected[1]) <= 1e-4 * expected[1]
                failed = failed or not same
                print(f"{name:8} {level:7} {ending:4} {found[0]:9} {expected[0]:9} {found[1]:12.5f} {expected[1]:12.5f}"
                      + ("" if same else "  DIFFERS"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
