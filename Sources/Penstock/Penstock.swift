/// What an app imports: everything of the core, the transport of the platform, and its cache.
@_exported import PenstockCore

extension APIClient {
    /// A client on the platform's own transport: URLSession on Apple's systems, libcurl on Linux. Its standard cache is
    /// ``PlatformCache/shared``.
    public convenience init(_ configuration: Configuration) {
        var configuration = configuration
        if case .standard = configuration.cache { configuration.cache = .store(PlatformCache.shared) }
        self.init(configuration, transport: PlatformTransport.make())
    }
}
