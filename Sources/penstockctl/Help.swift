import Penstock

/// The texts of `--help` and `--version`. The options and the exit statuses come from the tables that decide them.
enum Help {
    static let version = "penstockctl \(PenstockVersion.current)"

    static let program = """
        penstockctl sends HTTP requests through Penstock.

        \(rows(CommandRule.all.map { ("penstockctl \($0.synopsis)", $0.summary) }))

        penstockctl COMMAND --help tells more, --version the version.
        """

    static func text(of command: String) -> String {
        guard let rule = CommandRule.all.first(where: { $0.name == command }) else { return program }
        return """
            penstockctl \(rule.name) \(rule.summary).

            usage: penstockctl \(rule.synopsis)

            options
            \(rows(rule.options.map { (usage(of: $0), $0.help) }))
            """
    }

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
        GET, HEAD, OPTIONS, TRACE, PUT and DELETE are sent up to three times where the server fails for the moment.
        On a terminal a bar shows how far the transfer is, but not with -v.
        -H @FILE reads fields from a file, so that a token need not stand in an argument, which others can read.
        On a terminal -v has colours, unless NO_COLOR is set.
        Keys for --sign come from a file or the environment, never from an argument, which others on the machine can read.
        A redirect to another origin is not signed. --cookies keeps no cookie that ends with the session.

        exit status
        \(rows(statuses))

        examples
          penstockctl fetch https://example.com/ -o page.html
          penstockctl fetch PUT https://example.com/items/7 -H 'Content-Type: application/json' -d @item.json
          penstockctl fetch https://example.com/ --json --timeout 5
          penstockctl fetch https://files.s3.eu-central-1.amazonaws.com/a.txt --sign aws:eu-central-1:s3
          penstockctl fetch https://pay.example.com/orders -d @order.json --sign rfc9421 --sign-id ci --sign-key ci.pem
        """

    static let cache = """
        penstockctl cache looks into a file of stored responses, and clears it.

        usage: penstockctl cache ls --cache FILE           one line for each response
               penstockctl cache show URL --cache FILE     what is known of those of a URL
               penstockctl cache stats --cache FILE        how many, and how large
               penstockctl cache clear --cache FILE --url URL | --tag TAG | --all

        options
        \(rows(CacheOptions.table.map { (usage(of: $0), $0.help) }))
        """

    static let vault = """
        penstockctl vault reads and writes the secrets of a vault.

        usage: penstockctl vault ls                        one line for each: service, environment, origin, account
               penstockctl vault get SERVICE [ACCOUNT]     prints the value as it is
               penstockctl vault set SERVICE [ACCOUNT]     keeps what standard input holds, in place of another value
               penstockctl vault rm SERVICE [ACCOUNT]

        options
        \(rows(VaultOptions.table.map { (usage(of: $0), $0.help) }))

        What an app's client keeps is JSON of its own; what set keeps is taken as it is, with the line feed of echo.

        exit status
        \(rows(vaultStatuses))

        examples
          printf %s "$token" | penstockctl vault set deploy ci --vault ~/.local/state/deploy.vault
          penstockctl vault get deploy ci --vault ~/.local/state/deploy.vault
        """

    static let drive = """
        penstockctl drive answers requests that come on standard input through one client with a private HTTP cache.

        usage: penstockctl drive [options]

        options
        \(rows(DriveOptions.table.map { (usage(of: $0), $0.help) }))

        Each line of input is a JSON object:
          id         a whole number of 64 bits, which is copied into the reply
          method     sent as it is written
          url        absolute; plain http to this machine alone
          headers    a list of [name, value]; none unless told otherwise
          body       a text, or null
          cacheMode  no-cache sends Cache-Control: max-age=0 unless headers has that field; default does not
          redirect   manual makes a redirect the answer; follow follows it
        A line with an id that is no request otherwise gets a reply with the error.
        Each request is sent once: none is repeated, and no breaker opens.
        At most 1,000 lines are read ahead of their replies, so that these have to be read meanwhile.
        The first line of output says hello. Every other one is a reply, as soon as it is there:
          id, and status, headers, body (or bodyBase64) and cache, or error
        The command ends when its input does, and with \(ExitCode.output) when nobody reads its output any more.
        """

    static var statuses: [(String, String)] {
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

    static var vaultStatuses: [(String, String)] {
        let own = [
            (ExitCode.success, "it was done"), (ExitCode.output, "the output cannot be written"),
            (ExitCode.vaultNotFound, "get, rm: there is no such item"), (ExitCode.usage, "wrong usage"),
        ]
        return (own + ExitCode.vaultErrors.map { ($0.code, $0.meaning) }).sorted { $0.0 < $1.0 }
            .map { (String($0.0), $0.1) }
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
