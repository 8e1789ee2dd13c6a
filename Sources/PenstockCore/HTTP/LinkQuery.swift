/// The query of a link together with the common parameters of the moment.
package enum LinkQuery {
    /// The link's parameters without those that `common` has as well, and then `common`. Names are compared as what their
    /// escapes mean.
    package static func merged(_ link: String?, under common: String?) -> String? {
        guard let common, !common.isEmpty else { return link }
        guard let link, !link.isEmpty else { return common }
        let names = Set(common.split(separator: "&").map(name))
        let kept = link.split(separator: "&").filter { !names.contains(name($0)) }
        return (kept.map(String.init) + [common]).joined(separator: "&")
    }

    private static func name(_ pair: Substring) -> [UInt8] {
        let name = pair.prefix { $0 != "=" }
        return PercentEncoding.decoded(name).map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    }
}
