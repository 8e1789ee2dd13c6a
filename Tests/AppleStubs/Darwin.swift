// An empty module by this name makes `#if canImport(Darwin)` true.
