"""What scripts/openmp-suites.py runs: a module a suite. Each has build(), which compiles what a runtime's compiler needs
into a folder, and run(), which returns {test: outcome}, an outcome being pass, hang, skipped, or what went wrong."""
