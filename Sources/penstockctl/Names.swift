import Penstock

/// `--resolve`: where names lead, as the one who runs the tool says.
enum Names {
    static let option = OptionRule(
        names: ["--resolve"], placeholder: "HOST:PORT:ADDRESS[,ADDRESS]",
        help: "connect to ADDRESS in place of what the system knows of HOST; may be repeated", isRepeatable: true)

    /// - Returns: the system's where nothing was said.
    static func resolver(_ arguments: Arguments) throws(UsageError) -> HostResolver {
        var list: [String: [String]] = [:]
        for text in arguments.all("--resolve") {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else {
                throw UsageError("--resolve: \(String(reflecting: text)) is not HOST:PORT:ADDRESS")
            }
            guard !text.hasPrefix("[") else {
                throw UsageError("--resolve: HOST is a name, since an address is connected to as it stands")
            }
            let addresses = parts[2].split(separator: ",", omittingEmptySubsequences: false).map(bare)
            list["\(parts[0].lowercased()):\(parts[1])", default: []] += addresses
        }
        guard !list.isEmpty else { return .system }
        do throws(HostSourceError) {
            return HostResolver([try StaticHosts(list)])
        } catch {
            switch error {
            case .malformedAddress(let text): throw UsageError("--resolve: \(String(reflecting: text)) is no address")
            case .malformedHost(let text):
                throw UsageError("--resolve: \(String(reflecting: text)) is no host with its port")
            default: throw UsageError("--resolve: there is no address")
            }
        }
    }

    /// An IPv6 address may stand in brackets, as it does in a URL.
    private static func bare(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }
}
