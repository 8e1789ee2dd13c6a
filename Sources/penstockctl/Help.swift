import Penstock

/// The texts of `--help` and `--version`. The options and the exit statuses come from the tables that decide them.
enum Help {
    static let version = "penstockctl \(PenstockVersion.current)"

    static let program = """
        penstockctl sends HTTP requests through Penstock.

        usage: penstockctl fetch [METHOD] URL [options]
               penstockctl fetch --help
               penstockctl --help | --version
        """

    static let fetch = """
        penstockctl fetch sends one request and prints the body of the response.

        usage: penstockctl fetch [METHOD] URL [options]

        METHOD is sent as it is written: GET by default, POST with -d.
        URL is absolute, http or https, without user information.

        options
        \(rows(FetchOptions.table.map { (usage(of: $0), $0.help) }))

        Options stand anywhere; --name=value works for the long ones; -- ends them.
        -d sends application/x-www-form-urlencoded unless -H names another Content-Type.
        The body goes to standard output as it is (content codings removed), everything else to standard error.
        With both -o and --json the body goes to the file and is left out of the object.

        exit status
        \(rows(statuses))

        examples
          penstockctl fetch https://example.com/ -o page.html
          penstockctl fetch PUT https://example.com/items/7 -H 'Content-Type: application/json' -d @item.json
          penstockctl fetch https://example.com/ --json --timeout 5
        """

    private static var statuses: [(String, String)] {
        var all: [(Int32, String)] = ExitCode.kinds.map { ($0.code, "\($0.name): \($0.meaning)") }
        all += [
            (ExitCode.success, "a response came, whatever its status"),
            (ExitCode.output, "the output cannot be written"),
            (ExitCode.httpFailure, "--fail, and the status is 400 or above"),
            (ExitCode.otherError, "another error"),
            (ExitCode.usage, "wrong usage; nothing was sent"),
        ]
        return all.sorted { $0.0 < $1.0 }.map { (String($0.0), $0.1) }
    }

    private static func usage(of rule: OptionRule) -> String {
        let names = rule.names.joined(separator: ", ")
        return rule.placeholder.map { "\(names) \($0)" } ?? names
    }

    private static func rows(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.count + 2) + right
        }.joined(separator: "\n")
    }
}
