/// What an app imports: everything of the core, and the transport of the platform.
@_exported import PenstockCore

extension APIClient {
    /// A client on the platform's own transport: URLSession on Apple's systems, libcurl on Linux.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, transport: PlatformTransport.make())
    }
}
