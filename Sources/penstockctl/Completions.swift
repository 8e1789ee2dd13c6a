import Penstock

/// What a command is: the one description that help, completions and the manual are made of.
struct CommandRule {
    let name: String
    let synopsis: String
    let summary: String
    let options: [OptionRule]
    var operands = Completions.Words.none

    static let all = [
        CommandRule(
            name: "fetch", synopsis: "fetch [METHOD] URL [options]",
            summary: "sends a request and prints the body of the response",
            options: FetchOptions.table, operands: .some(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])),
        CommandRule(
            name: "cache", synopsis: "cache ls | show URL | clear | stats --cache FILE",
            summary: "looks into a file of stored responses, and clears it", options: CacheOptions.table,
            operands: .some(["ls", "show", "clear", "stats"])),
        CommandRule(
            name: "vault", synopsis: "vault ls | get SERVICE [ACCOUNT] | set … | rm … --vault FILE",
            summary: "reads and writes the secrets of a vault", options: VaultOptions.table,
            operands: .some(["ls", "get", "set", "rm"])),
        CommandRule(
            name: "report", synopsis: "report FILE.har [-o FILE]",
            summary: "makes a page of an HTTP archive, for a browser",
            options: ReportCommand.table, operands: .files),
        CommandRule(
            name: "record", synopsis: "record --har FILE --to ORIGIN [options]",
            summary: "is a proxy on this machine that forwards to ORIGIN and records, content included, until Ctrl-C",
            options: RecordCommand.table),
        CommandRule(
            name: "replay", synopsis: "replay FILE.har [options]",
            summary: "serves the answers of an HTTP archive on this machine, by method and target, whatever their host",
            options: ReplayCommand.table, operands: .files),
        CommandRule(
            name: "drive", synopsis: "drive [options]", summary: "answers requests that come on standard input",
            options: DriveOptions.table),
        CommandRule(
            name: "completions", synopsis: "completions bash | zsh | fish",
            summary: "prints what completes words in a shell",
            options: plain, operands: .some(["bash", "zsh", "fish"])),
        CommandRule(name: "manual", synopsis: "manual", summary: "prints the manual, for man -l -", options: plain),
    ]

    static let plain = [
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]
}

/// What makes a shell complete the words of the tool.
enum Completions {
    /// What may stand at a place.
    enum Words {
        case none
        case files
        /// Names of files after an `@`.
        case markedFiles
        case some([String])
        /// These, and names of files.
        case someOrFiles([String])

        /// What a value may be, as its placeholder tells.
        init(placeholder: String) {
            let words = placeholder.components(separatedBy: " | ")
            self =
                if placeholder.hasSuffix("@FILE") {
                    .markedFiles
                } else if placeholder.hasSuffix("|FILE") {
                    .someOrFiles(placeholder.split(separator: "|").dropLast().map(String.init))
                } else if placeholder.hasSuffix("FILE") {
                    .files
                } else if words.count > 1 {
                    .some(words.map { String($0.prefix { !$0.isUppercase || !placeholder.contains(":") }) })
                } else {
                    .none
                }
        }
    }

    static func script(for shell: String) throws(UsageError) -> String {
        switch shell {
        case "bash": bash
        case "zsh": "autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n" + bash
        case "fish": fish
        default: throw UsageError("the shell is one of bash, zsh and fish")
        }
    }

    private static var names: String { CommandRule.all.map(\.name).joined(separator: " ") }

    private static func words(_ rule: CommandRule) -> String { rule.options.flatMap(\.names).joined(separator: " ") }

    /// How a shell is asked for words of a kind.
    private static func query(_ words: Words) -> String {
        switch words {
        case .none: "return"
        case .files: "_penstockctl_files -- \"$current\"; return"
        case .markedFiles: "[[ $current != @* ]] || _penstockctl_files -P @ -- \"${current#@}\"; return"
        case .some(let words): "_penstockctl_add -W '\(words.joined(separator: " "))' -- \"$current\"; return"
        case .someOrFiles(let words):
            "_penstockctl_files -W '\(words.joined(separator: " "))' -- \"$current\"; return"
        }
    }

    /// What may stand behind an option, as a branch of `case`. An `@` behind the option's name is one that bash has made a word of its
    /// own, although what is offered takes its place as well.
    private static func branch(_ command: String, _ option: OptionRule, _ words: Words) -> String {
        func names(_ mark: String) -> String {
            option.names.map { "'\(command) \($0)\(mark)'" }.joined(separator: "|")
        }
        let plain = "        \(names(""))) \(query(words)) ;;"
        guard case .markedFiles = words else { return plain }
        return "\(plain)\n        \(names("@"))) _penstockctl_files -P @ -- \"$current\"; return ;;"
    }

    /// One line is one word, whatever spaces are in it. Written without `mapfile`, which zsh and the bash of Apple's systems lack.
    ///
    /// A shell at a terminal makes words of their own of the signs in `COMP_WORDBREAKS` that stand together, such as the `=@` of
    /// `--data=@file`. Without `compopt`, as on Apple's systems, what is offered counts as a file's name wherever it stands.
    private static var bash: String {
        let values = CommandRule.all.flatMap { rule in
            rule.options.compactMap { option in
                option.placeholder.map { branch(rule.name, option, Words(placeholder: $0)) }
            }
        }
        let options = CommandRule.all.map { "            \($0.name)) words='\(words($0))' ;;" }
        let operands = CommandRule.all.map { "        \($0.name)) \(query($0.operands)) ;;" }
        return """
            _penstockctl_add() {
                local line
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@")
                if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null; fi
            }
            _penstockctl_files() {
                compopt -o filenames 2>/dev/null
                _penstockctl_add -f "$@"
            }
            _penstockctl() {
                local words='--help --version \(names)' current=${COMP_WORDS[COMP_CWORD]} sign= mark=
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    _penstockctl_add -W "$words" -- "$current"
                    return
                fi
                local at=$((COMP_CWORD - 1)) command=${COMP_WORDS[1]}
                if [[ $current == [=@:]* && -z ${current//[=@:]/} && $COMP_WORDBREAKS == *"${current:0:1}"* ]]; then
                    sign=$current current=
                elif [[ ${COMP_WORDS[at]} == [=@:]* && -z ${COMP_WORDS[at]//[=@:]/} ]]; then
                    sign=${COMP_WORDS[at]} at=$((at - 1))
                fi
                if [[ $sign == *@ ]]; then mark=@; fi
                case $sign in
                    ''|@) ;;
                    =|=@) [[ ${COMP_WORDS[at]} == --* ]] || return ;;
                    *) return ;;
                esac
                case "$command ${COMP_WORDS[at]}$mark" in
            \(values.joined(separator: "\n"))
                esac
                if [[ -n $sign ]]; then return; fi
                if [[ $current == -* ]]; then
                    words=
                    case $command in
            \(options.joined(separator: "\n"))
                    esac
                    _penstockctl_add -W "$words" -- "$current"
                    return
                fi
                case $command in
            \(operands.joined(separator: "\n"))
                esac
            }
            if type compopt >/dev/null 2>&1; then
                complete -F _penstockctl penstockctl
            else
                complete -o filenames -F _penstockctl penstockctl
            fi
            """
    }

    private static var fish: String {
        let commands = CommandRule.all.map {
            "complete -c penstockctl -n __fish_use_subcommand -f -a \($0.name) -d '\(quoted($0.summary))'"
        }
        let operands = CommandRule.all.map {
            "complete -c penstockctl -n '__fish_seen_subcommand_from \($0.name)' \(flags($0.operands))"
        }
        let options = CommandRule.all.flatMap { rule in
            rule.options.map { option -> String in
                let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                let value = option.placeholder.map { " -r \(flags(Words(placeholder: $0)))" } ?? ""
                return
                    "complete -c penstockctl -n '__fish_seen_subcommand_from \(rule.name)' \(names.joined(separator: " "))"
                    + "\(value) -d '\(quoted(option.help))'"
            }
        }
        return (commands + operands + options).joined(separator: "\n")
    }

    private static func flags(_ words: Words) -> String {
        switch words {
        case .none: "-f"
        case .files, .markedFiles: "-F"
        case .some(let words): "-f -a '\(words.joined(separator: " "))'"
        case .someOrFiles(let words): "-F -a '\(words.joined(separator: " "))'"
        }
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

    /// Those of `vault` are apart, since its numbers mean something else than those of a request.
    private static var statuses: String {
        func rows(_ statuses: [(String, String)]) -> String {
            statuses.map { ".TP\n.B \($0.0)\n\(escaped($0.1))" }.joined(separator: "\n")
        }
        return ".SH EXIT STATUS\n\(rows(Help.statuses))\n.SS penstockctl vault\n\(rows(Help.vaultStatuses))"
    }

    /// A line that begins with a dot or a quote would be a command.
    private static func escaped(_ text: String) -> String {
        let text = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
