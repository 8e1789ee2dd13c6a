#if !os(Linux)
    /// There is no libcurl to torture here.
    @main
    enum TortureTool {
        static func main() {}
    }
#endif
