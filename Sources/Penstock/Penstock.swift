/// What an app imports: everything of the core, the signers, the vaults, the transport of the platform, its cache, and what shows
/// what happened.
import Foundation
@_exported import PenstockCore
@_exported import PenstockInspect
@_exported import PenstockSecurity

extension APIClient {
    /// A client on the platform's own transport: URLSession on Apple's systems, libcurl on Linux. Its standard cache is
    /// ``PlatformCache/shared``, its cookies go by ``PlatformPublicSuffixes/list``, and its credentials are kept in
    /// ``PlatformVault/shared``, where it has no others of its own.
    public convenience init(_ configuration: Configuration) {
        var configuration = configuration
        if case .standard = configuration.cache { configuration.cache = .store(PlatformCache.shared) }
        if configuration.vault == nil { configuration.vault = PlatformVault.standard }
        if !configuration.setsCookies {
            configuration.cookies = MemoryCookieStore(suffixes: PlatformPublicSuffixes.list, time: configuration.time)
        }
        self.init(configuration, transport: PlatformTransport.make())
    }

    /// A client with one service, ``ServiceID/main``, on the platform's own transport.
    ///
    /// ```swift
    /// let client = APIClient("https://api.example.com")
    /// let user: User = try await client.get("/user/7")
    /// ```
    public convenience init(_ baseURLs: BaseURLs, options: CallOptions = .init()) {
        self.init(Configuration(baseURLs, options: options))
    }

    /// A base URL is a text, since it differs by environment; one that is a `URL` is interpolated.
    @available(*, unavailable, message: "interpolate the URL: APIClient(\"\\(url)\")")
    public convenience init(_ url: URL, options: CallOptions = .init()) {
        self.init("\(url)", options: options)
    }

    /// A base URL is a text, since it differs by environment; one that is a ``HTTPURL`` is interpolated.
    @available(*, unavailable, message: "interpolate the URL: APIClient(\"\\(url)\")")
    public convenience init(_ url: HTTPURL, options: CallOptions = .init()) {
        self.init("\(url)", options: options)
    }
}
