import Penstock

/// What a command is: the one description that help, completions and the manual are made of.
struct CommandRule {
    let name: String
    let synopsis: String
    let summary: String
    let options: [OptionRule]

    static let all = [
        CommandRule(
            name: "fetch", synopsis: "fetch [METHOD] URL [options]",
            summary: "sends a request and prints the body of the response",
            options: FetchOptions.table),
        CommandRule(
            name: "cache", synopsis: "cache ls | show URL | clear | stats --cache FILE",
            summary: "looks into a file of stored responses, and clears it", options: CacheOptions.table),
        CommandRule(
            name: "vault", synopsis: "vault ls | get SERVICE [ACCOUNT] | set … | rm … --vault FILE",
            summary: "reads and writes the secrets of a vault", options: VaultOptions.table),
        CommandRule(
            name: "report", synopsis: "report FILE.har [-o FILE]",
            summary: "makes a page of an HTTP archive, for a browser",
            options: ReportCommand.table),
        CommandRule(
            name: "record", synopsis: "record --har FILE --to ORIGIN [options]",
            summary: "hands requests on from a server on this machine, and records the answers for replay",
            options: RecordCommand.table),
        CommandRule(
            name: "replay", synopsis: "replay FILE.har",
            summary: "serves the answers of an HTTP archive on this machine",
            options: ReplayCommand.table),
        CommandRule(
            name: "drive", synopsis: "drive [options]", summary: "answers requests that come on standard input",
            options: DriveOptions.table),
        CommandRule(
            name: "completions", synopsis: "completions bash | zsh | fish",
            summary: "prints what completes words in a shell",
            options: plain),
        CommandRule(name: "manual", synopsis: "manual", summary: "prints the manual, for man -l -", options: plain),
    ]

    static let plain = [OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text")]
}

/// What makes a shell complete the words of the tool.
enum Completions {
    static func script(for shell: String) throws(UsageError) -> String {
        switch shell {
        case "bash": bash
        case "zsh": "autoload -U bashcompinit && bashcompinit\n" + bash
        case "fish": fish
        default: throw UsageError("the shell is one of bash, zsh and fish")
        }
    }

    private static var names: String { CommandRule.all.map(\.name).joined(separator: " ") }

    private static func words(_ rule: CommandRule) -> String { rule.options.flatMap(\.names).joined(separator: " ") }

    private static var bash: String {
        let cases = CommandRule.all.map { "        \($0.name)) words='\(words($0))' ;;" }.joined(separator: "\n")
        return """
            _penstockctl() {
                local words='--help --version \(names)' current=${COMP_WORDS[COMP_CWORD]}
                if ((COMP_CWORD > 1)); then
                    words=
                    case ${COMP_WORDS[1]} in
            \(cases)
                    esac
                    [[ $current == -* ]] || { COMPREPLY=($(compgen -f -- "$current")); return; }
                fi
                COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -o filenames -F _penstockctl penstockctl
            """
    }

    private static var fish: String {
        let commands = CommandRule.all.map {
            "complete -c penstockctl -n __fish_use_subcommand -f -a \($0.name) -d '\(quoted($0.summary))'"
        }
        let options = CommandRule.all.flatMap { rule in
            rule.options.map { option -> String in
                let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                let value = option.placeholder == nil ? "" : " -r"
                return
                    "complete -c penstockctl -n '__fish_seen_subcommand_from \(rule.name)' \(names.joined(separator: " "))"
                    + "\(value) -d '\(quoted(option.help))'"
            }
        }
        return (commands + options).joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "'", with: "\\'")
    }
}

/// The manual in the language of `man` (man(7)).
enum Manual {
    static var text: String {
        let head = """
            .TH PENSTOCKCTL 1 "" "Penstock \(PenstockVersion.current)"
            .SH NAME
            penstockctl \\- HTTP from a shell, through Penstock
            .SH SYNOPSIS
            """
        let synopses = CommandRule.all.map { ".B penstockctl\n\(escaped($0.synopsis))\n.br" }
        let sections = CommandRule.all.map { rule in
            ".SH \(rule.name.uppercased())\npenstockctl \(rule.name) \(escaped(rule.summary)).\n"
                + rule.options.map(option).joined(separator: "\n")
        }
        return ([head] + synopses + sections + [statuses]).joined(separator: "\n")
    }

    private static func option(_ rule: OptionRule) -> String {
        let names = rule.names.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", ")
        let value = rule.placeholder.map { " \\fI\(escaped($0))\\fR" } ?? ""
        return ".TP\n\(names)\(value)\n\(escaped(rule.help))"
    }

    private static var statuses: String {
        ".SH EXIT STATUS\n"
            + Help.statuses.map { ".TP\n.B \($0.0)\n\(escaped($0.1))" }.joined(separator: "\n")
    }

    /// A line that begins with a dot or a quote would be a command.
    private static func escaped(_ text: String) -> String {
        let text = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
