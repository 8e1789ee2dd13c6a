import Foundation

/// What a ``FileCookieStore`` has on disk: a line that says what the file is, and a line of JSON for each cookie.
///
/// A cookie is written as the `Set-Cookie` line that would set it, and read by the same parser as what servers send. So
/// whatever a file holds, no cookie comes out of it that a server could not have set.
enum CookieFileFormat {
    static let version = 1

    /// Why a file is left as it is.
    enum Problem: Error {
        case foreign
        case newerVersion
    }

    private static let name = "penstock cookies "

    /// One cookie, and whose it is.
    struct Record: Codable {
        var environment: String
        var identity: String
        var way: String
        /// The host that set it.
        var host: String
        var setCookie: String
        /// When the cookie expires, in seconds since 1970.
        var expiry: Double
    }

    // MARK: Writing

    /// - Returns: all cookies that have an expiry. The others end with the app.
    static func write(_ jars: [CachePartition: CookieJar]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = Data("\(name)\(version)\n".utf8)
        for (partition, jar) in jars {
            for cookie in jar.cookiesByAge {
                guard let record = Record(cookie, of: partition) else { continue }
                data.append(try encoder.encode(record))
                data.append(UInt8(ascii: "\n"))
            }
        }
        return data
    }

    // MARK: Reading

    /// Puts the cookies of a file into jars. A line that cannot be read, or whose cookie has expired, is passed over. An empty
    /// file has none.
    static func read(_ data: Data, into jars: inout CookieJars<CachePartition>, at now: Date) throws(Problem) {
        try check(data)
        let decoder = JSONDecoder()
        for line in data.split(separator: UInt8(ascii: "\n")).dropFirst() where line.count <= maximumLineBytes {
            guard let record = try? decoder.decode(Record.self, from: line),
                let url = try? HTTPURL(
                    HTTPURL.Origin(scheme: .https, host: record.host, port: 443).text + "/"), url.host == record.host,
                let age = record.age(at: now)
            else { continue }
            let partition = CachePartition(
                environment: record.environment, identity: record.identity, way: record.way)
            _ = jars.receive(["\(record.setCookie); Max-Age=\(age)"], from: url, of: partition, at: now)
        }
    }

    /// More than the longest cookie and its attributes, each of their bytes escaped.
    private static let maximumLineBytes = 64 << 10

    /// Whether it is a file of cookies, of whatever version.
    static func isOurs(_ data: Data) -> Bool { number(of: data) != nil }

    /// Whether it can be read; an empty file can.
    static func check(_ data: Data) throws(Problem) {
        guard !data.isEmpty else { return }
        guard let number = number(of: data) else { throw .foreign }
        if number > version { throw .newerVersion }
    }

    /// - Returns: the version that a file is of.
    private static func number(of data: Data) -> Int? {
        guard let first = data.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else { return nil }
        let line = String(decoding: first, as: UTF8.self)
        guard line.hasPrefix(name), let number = Int(line.dropFirst(name.count)), number > 0 else { return nil }
        return number
    }
}

extension CookieFileFormat.Record {
    /// - Returns: `nil` for a cookie that ends with the app, and for one with a path that no `Path` attribute can hold.
    init?(_ cookie: Cookie, of partition: CachePartition) {
        guard let end = cookie.expiry, let text = cookie.setCookie else { return nil }
        environment = partition.environment
        identity = partition.identity
        way = partition.way
        host = cookie.host
        setCookie = text
        expiry = end.timeIntervalSince1970
    }

    /// How many seconds are left; `nil` for none. However far away the expiry is, it is a number: the parser puts the limit.
    func age(at now: Date) -> Int? {
        let left = min(expiry - now.timeIntervalSince1970, 1_000_000_000)
        return left >= 1 ? Int(left) : nil
    }
}

extension Cookie {
    /// The line that sets this cookie, without its expiry.
    fileprivate var setCookie: String? {
        guard path.utf8.count <= 1_024, !path.utf8.contains(UInt8(ascii: ";")) else { return nil }
        var line = "\(name)=\(value); Path=\(path)"
        if let domain { line += "; Domain=\(domain)" }
        if isSecure { line += "; Secure" }
        if isHTTPOnly { line += "; HttpOnly" }
        if sameSite != .unspecified { line += "; SameSite=\(sameSite.rawValue)" }
        return line
    }
}
