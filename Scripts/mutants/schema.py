"""Where operators can be changed, and the one program that holds every change at once.

Building the tests takes minutes and running those that see one place takes a second, so the mutants are not built one by
one. Each place gets an operator of its own, written with arrows after the one that stood there: `a < b` becomes `a <⇇⇄ b`,
and `<⇇⇄` is declared as `changed(707) ? a <= b : a < b`. What is no operator becomes a choice of two expressions. Which
place is changed is read from the environment when the process starts. A place whose choice does not compile is left
out, and can be built alone.

Besides operators there are three things that a test has to notice: a statement that is not carried out, a condition
without an operator that is always or never met, and a flag before `?` that says the opposite.
"""

import re

BINARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
          "+=": "-=", "-=": "+=", "*": "+", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"}
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "first": "last", "last": "first",
         "prefix": "suffix", "suffix": "prefix", "dropFirst": "dropLast", "dropLast": "dropFirst", "continue": "break"}


def blanked(text):
    """The text with comments and strings replaced by spaces, so that positions stay what they are."""
    out = list(text)
    begin = re.compile(r'//|/\*|#*"')
    at = 0
    while match := begin.search(text, at):
        at = end_of_comment(text, match.start()) or end_of_string(text, match.start()) or match.end()
        out[match.start():at] = re.sub(r"[^\n]", " ", text[match.start():at])
    return "".join(out)


def end_of_comment(text, at):
    """Where the comment ends that begins here, if one does."""
    if text.startswith("//", at):
        end = text.find("\n", at)
    elif text.startswith("/*", at):
        end = text.find("*/", at + 2) + 2
    else:
        return None
    return end if end > at else len(text)


def end_of_string(text, at):
    """Where the string ends that begins here, if one does: with what is interpolated, and the strings in that."""
    begin = re.compile(r'(#*)("""|")').match(text, at)
    if not begin:
        return None
    hashes, quotes = begin.groups()
    at = begin.end()
    while at < len(text):
        if text.startswith(quotes + hashes, at):
            return at + len(quotes + hashes)
        if text.startswith("\\" + hashes + "(", at):
            at, depth = at + len(hashes) + 2, 1
            while at < len(text) and depth:
                inner = end_of_string(text, at)
                depth += {"(": 1, ")": -1}.get(text[at], 0) if not inner else 0
                at = inner or at + 1
        elif text.startswith("\\" + hashes, at):
            at += len(hashes) + 2
        else:
            at += 1
    return at


class Site:
    """One place of a file, and the change that is made there."""

    def __init__(self, path, text, start, end, replacement, kind="operator"):
        self.path, self.start, self.end, self.replacement, self.kind = path, start, end, replacement, kind
        self.original = text[start:end]
        self.line = text.count("\n", 0, start) + 1
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        self.before = text[first:last].strip()
        self.after = (text[first:start] + replacement + text[end:last]).strip()
        self.number = None
        self.isCharacter = text[max(0, start - 8):start] == 'ascii: "'

    def __str__(self):
        return f"{self.path}:{self.line}\n    - {self.before}\n    + {self.after}"

    @property
    def key(self):
        return (self.path, self.before, self.after)


def sites(path, text):
    """Every place of a file where an operator can be changed."""
    code = blanked(text)
    found = []
    for match in re.finditer(r"(?<= )(<=|>=|==|!=|&&|\|\||\+=|-=|<<|>>|<|>|\+|-|\*|/|%|&|\||\^)(?= )", code):
        # Strings and arrays are added too, and cannot be subtracted.
        operator, before, after = match.group(), text[:match.start() - 1], text[match.end() + 1:]
        joins = operator in ("+", "+=") and (after[0] in '"[#' or before[-1] == '"')
        composes = operator == "&" and re.match(r"[A-Z~]|any ", after)
        if not joins and not composes and not before.endswith("func"):
            found.append((match.start(), match.end(), BINARY[match.group()]))
    for match in re.finditer(r"(?<=[\w)\]])(?:\.\.<|\.\.\.(?=[\w(]))|(?<=[\w)\]] )(?:\.\.<|\.\.\.)(?= )", code):
        found.append((match.start(), match.end(), "..." if match.group() == "..<" else "..<"))
    for match in re.finditer(r"(?<![\w.$#])(?<!while )(true|false|continue)(?!\w)|(?<=\.)(first|last)(?!\w)", code):
        found.append((match.start(), match.end(), WORDS[match.group()]))
    for match in re.finditer(r"(?<!func )\b(min|max|prefix|suffix|dropFirst|dropLast)(?=\((?!while:|upTo:|through:|from:))", code):
        found.append((match.start(), match.end(), WORDS[match.group()]))
    for match in re.finditer(r"(?<![\w.$#])(?<!e-)\d[\d_]*(?![\w.])", code):
        value = int(match.group().replace("_", ""))
        found.append((match.start(), match.end(), str(value + 1)))
    for match in re.finditer(r"(?<![\w.$#])(\d[\d_]*)(\.\d[\w.]*)", code):
        found.append((match.start(), match.end(), str(int(match[1].replace("_", "")) + 1) + match[2]))
    for match in re.finditer(r"(?<![\w.$#])0x[0-9A-Fa-f_]+(?!\w)", code):
        value = int(match.group().replace("_", ""), 16)
        # What fills its bytes has no next one.
        found.append((match.start(), match.end(), hex(value - 1 if value & (value + 1) == 0 and value > 15 else value + 1)))
    for match in re.finditer(r"(?<=[\s(])!(?=[\w(.])", code):
        found.append((match.start(), match.end(), ""))
    # A character by its code, which the blanked text does not show: UInt8(ascii: "x").
    for match in re.finditer(r'(?<=ascii: ")([^"\\])(?=")', text):
        found.append((match.start(), match.end(), "~" if match.group() != "~" else "!"))
    found = [Site(path, text, *place) for place in sorted(set(found))]
    return found + [Site(path, text, *place) for place in sorted({*conditions(code), *flags(code), *statements(code)})]


OPERATOR = re.compile(r"(?:^|[\s(])(?:[<>=!+*/%&|^-]+)(?= |$)|[\s(]!|\.\.[.<]|\b(?:true|false)\b")


def conditions(code):
    """The conditions of `if`, `guard`, `while` and `where` that have no operator: always met, and never."""
    for match in re.finditer(r"(?<![\w.`])(if|guard|while|where) (?=[^\s{])", code):
        start, at, depth = match.end(), match.end(), 0
        while at < len(code):
            letter = code[at]
            if letter in "([{" and not (letter == "{" and depth == 0):
                depth += 1
            elif letter in ")]}" and depth:
                depth -= 1
            elif depth == 0 and (letter in ",{:)]}\n" or code.startswith(" else", at)):
                part = code[start:at].rstrip()
                begin, end = start + len(part) - len(part.lstrip()), start + len(part)
                first = code.rfind("\n", 0, match.start()) + 1
                isClause = match[1] != "where" or re.match(r"\s*(case|for)\b", code[first:match.start()])
                if isClause and re.match(r"[a-z_]", part.strip()) and not OPERATOR.search(part) and "\n" not in part \
                        and not re.match(r"(let|var|case|where|try|await|if|switch)\b|.* (in|as|is|\?)( |$)", part.strip()):
                    for word in ("true", "false"):
                        if not (match[1] == "while" and word == "true"):
                            yield begin, end, word, "condition"
                if letter != "," or match[1] == "where":
                    break
                start = at + 1
            at += 1


def flags(code):
    """The flags that choose between two values."""
    for match in re.finditer(r"(?<=[\s(])(is[A-Z]\w*|has[A-Z]\w*|[a-z][\w.]*\.(?:is|has|may|can)[A-Z]\w*)(?= \? )", code):
        yield match.start(), match.end(), "!" + match[0], "flag"


KEYWORDS = re.compile(
    r"(let|var|func|case|return|if|guard|for|while|switch|default|else|throw|defer|import|private|fileprivate|public|static"
    r"|init|extension|struct|enum|class|actor|protocol|continue|break|where|super|repeat|do|catch|mutating|nonisolated|get|set"
    r"|async|weak|unowned|lazy|subscript|typealias|associatedtype|in|is|as|try\?|fallthrough|deinit|indirect|final|override)\b")


def statements(code):
    """Statements of one line that are an assignment or a call for its effect, outside of initializers."""
    lines, offset, stack = code.split("\n"), 0, []
    solid = [index for index, line in enumerate(lines) if line.strip()]
    before = {index: lines[solid[k - 1]].rstrip() if k else "" for k, index in enumerate(solid)}
    after = {index: lines[solid[k + 1]].strip() if k + 1 < len(solid) else "" for k, index in enumerate(solid)}
    pending = False
    for index, line in enumerate(lines):
        text = line.strip()
        if re.match(r"(?:[\w@()]+ )*(?:init[?(<]|let |var |subscript)", text) and not re.match(r"self\.init", text):
            pending = "init"
        elif re.match(r"(?:[\w@()]+ )*(?:func|extension|struct|enum|actor|class|protocol) ", text):
            pending = "other"
        where = [kind for kind in stack if kind]
        inside = where[-1] if where else None
        begin = offset + line.find(text) if text else offset
        label = re.match(r"(?:case [^:]*?|default)(?:\([^()]*\))*: (?=\S)", text)
        body = text
        if label and text.count(": ") == 1:
            begin, body = begin + label.end(), text[label.end():]
        balanced = all(body.count(a) == body.count(b) for a, b in ("()", "[]", "{}"))
        assigns = re.match(r"(?:self\.)?[a-z_][\w.?!\[\]]*(?:\[.*?\])?[\w.?!]* (?:=|[-+*/|^&]=) \S", body)
        calls = re.match(r"(?:(?:try|await|_ =) )*[a-z_][\w.?!\[\]]*\(.*\)$", body) and body is text
        open_before = re.search(r"[,(\[=?:&|+]$|\bin$|\{ *$|\{ \[.*\] in$|[-*/] *$", before.get(index, ""))
        loose_before = re.match(r"\s*(?:\} else |if |guard |for |while |\} catch|do )", before.get(index, "")) \
            and re.search(r"\{$", before.get(index, "")) and " = if " not in before.get(index, "")
        continues = re.match(r"[.?:&|+*/<>=-]", after.get(index, ""))
        if balanced and inside == "other" and not KEYWORDS.match(body) and "reserveCapacity" not in body and not re.search(r"[,(\[{]$|[=&|+*/-]$", body) and not continues:
            if (assigns and not re.search(r"[,(\[=?&|+]$", before.get(index, "")) ) or (calls and (not open_before or loose_before)):
                yield begin, begin + len(body), "", "statement"
        for letter in line:
            if letter == "{":
                stack.append(pending or None)
                pending = False
            elif letter == "}" and stack:
                stack.pop()
        offset += len(line) + 1


def arrows(number):
    """A number as two characters that Swift takes for a part of an operator."""
    return chr(0x2190 + number // 96) + chr(0x2190 + number % 96)


# How each operator is declared. `{o}` is the operator of the place, `{a}` what stood there, `{b}` the change, `{n}` the number.
PLAIN = "public func {o} {g}(a: {l}, b: {r}) -> {t} {{ changed({n}) ? a {b} b : a {a} b }}"
WEAK = "@_disfavoredOverload " + PLAIN
LAZY = ("public func {o} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
        "{{ changed({n}) ? try a {b} b() : try a {a} b() }}")
ASSIGNING = "public func {o} <T: AdditiveArithmetic>(a: inout T, b: T) {{ if changed({n}) {{ a {b} b }} else {{ a {a} b }} }}"
HALF_OPEN = (
    "public func {o} <T: Comparable>(a: T, b: T) -> _MutantRange<T> {{ changed({n}) ? .init(closed: a...b) : .init(open: a..<b) }}\n"
    "@_disfavoredOverload public func {o} <T: Strideable>(a: T, b: T) -> Range<T> where T.Stride: SignedInteger "
    "{{ changed({n}) ? Range(a...b) : a..<b }}")
CLOSED = (
    "public func {o} <T: Comparable>(a: T, b: T) -> _MutantRange<T> {{ changed({n}) ? .init(open: a..<b) : .init(closed: a...b) }}\n"
    "@_disfavoredOverload public func {o} <T: Strideable>(a: T, b: T) -> ClosedRange<T> where T.Stride: SignedInteger "
    "{{ changed({n}) ? ClosedRange(a..<b) : a...b }}")
GROUPS = {"<": "ComparisonPrecedence", "<=": "ComparisonPrecedence", ">": "ComparisonPrecedence",
          ">=": "ComparisonPrecedence", "==": "ComparisonPrecedence", "!=": "ComparisonPrecedence",
          "&&": "LogicalConjunctionPrecedence", "||": "LogicalDisjunctionPrecedence", "+": "AdditionPrecedence",
          "-": "AdditionPrecedence", "|": "AdditionPrecedence", "^": "AdditionPrecedence",
          "*": "MultiplicationPrecedence", "/": "MultiplicationPrecedence", "%": "MultiplicationPrecedence",
          "&": "MultiplicationPrecedence", "<<": "BitwiseShiftPrecedence", ">>": "BitwiseShiftPrecedence",
          "+=": "AssignmentPrecedence", "-=": "AssignmentPrecedence", "..<": "RangeFormationPrecedence",
          "...": "RangeFormationPrecedence"}

SUPPORT = """import CMutant
import Foundation

public func changed(_ number: Int) -> Bool { mutant_is_changed(number) != 0 }
public func changedCondition(_ number: Int, _ value: Bool?, _ condition: Bool) -> Bool {
    changed(number) ? value ?? !condition : condition
}

/// What `..<` or `...` makes at a place where the other one might: an empty one of the closed kind as well.
public struct _MutantRange<Bound: Comparable> {
    let lower: Bound
    let upper: Bound
    let isClosed: Bool
    init(open: Range<Bound>) { (lower, upper, isClosed) = (open.lowerBound, open.upperBound, false) }
    init(closed: ClosedRange<Bound>) { (lower, upper, isClosed) = (closed.lowerBound, closed.upperBound, true) }
    public func contains(_ value: Bound) -> Bool { value >= lower && (isClosed ? value <= upper : value < upper) }
}
extension _MutantRange: RangeExpression {
    public func relative<C: Collection>(to collection: C) -> Range<Bound> where C.Index == Bound {
        isClosed ? lower..<collection.index(after: upper) : lower..<upper
    }
}
extension _MutantRange: Sendable where Bound: Sendable {}
extension _MutantRange: Sequence where Bound: Strideable, Bound.Stride: SignedInteger {
    public func makeIterator() -> AnyIterator<Bound> {
        isClosed ? AnyIterator((lower...upper).makeIterator()) : AnyIterator((lower..<upper).makeIterator())
    }
}

public func changedMin<T: Comparable>(_ n: Int, _ a: T, _ b: T) -> T { changed(n) ? max(a, b) : min(a, b) }
public func changedMax<T: Comparable>(_ n: Int, _ a: T, _ b: T) -> T { changed(n) ? min(a, b) : max(a, b) }
public func changedMin<T: Comparable>(_ n: Int, _ a: T, _ b: T, _ c: T) -> T { changed(n) ? max(a, b, c) : min(a, b, c) }
public func changedMax<T: Comparable>(_ n: Int, _ a: T, _ b: T, _ c: T) -> T { changed(n) ? min(a, b, c) : max(a, b, c) }
extension Sequence where Element: Comparable {
    public func changedMin(_ n: Int) -> Element? { changed(n) ? self.max() : self.min() }
    public func changedMax(_ n: Int) -> Element? { changed(n) ? self.min() : self.max() }
}
extension Sequence {
    public func changedMin(_ n: Int, by order: (Element, Element) throws -> Bool) rethrows -> Element? {
        changed(n) ? try self.max(by: order) : try self.min(by: order)
    }
    public func changedMax(_ n: Int, by order: (Element, Element) throws -> Bool) rethrows -> Element? {
        changed(n) ? try self.min(by: order) : try self.max(by: order)
    }
}
extension BidirectionalCollection {
    public func changedFirst(_ n: Int) -> Element? { changed(n) ? last : first }
    public func changedLast(_ n: Int) -> Element? { changed(n) ? first : last }
    public func changedFirst(_ n: Int, where test: (Element) throws -> Bool) rethrows -> Element? {
        changed(n) ? try last(where: test) : try first(where: test)
    }
    public func changedLast(_ n: Int, where test: (Element) throws -> Bool) rethrows -> Element? {
        changed(n) ? try first(where: test) : try last(where: test)
    }
    public func changedPrefix(_ n: Int, _ k: Int) -> SubSequence { changed(n) ? suffix(k) : prefix(k) }
    public func changedSuffix(_ n: Int, _ k: Int) -> SubSequence { changed(n) ? prefix(k) : suffix(k) }
    public func changedDropFirst(_ n: Int, _ k: Int = 1) -> SubSequence { changed(n) ? dropLast(k) : dropFirst(k) }
    public func changedDropLast(_ n: Int, _ k: Int = 1) -> SubSequence { changed(n) ? dropFirst(k) : dropLast(k) }
}
"""


def declared(site, follows):
    """The declaration of a place's own operator, or nothing where it needs none. `follows` is the text after it."""
    a, b, n = site.original, site.replacement, site.number
    o = a + arrows(n)
    if site.isCharacter or site.kind != "operator":
        return ""
    if a == "!":
        return f"prefix operator {o}\nprefix public func {o} (a: Bool) -> Bool {{ changed({n}) ? a : !a }}"
    if a not in GROUPS:
        return ""
    lines = [f"infix operator {o}: {GROUPS[a]}"]

    def add(form, g="", l="T", r="T", t="Bool"):
        lines.append(form.format(o=o, a=a, b=b, n=n, g=g, l=l, r=r, t=t))

    if a in ("<", "<=", ">", ">="):
        add(PLAIN, "<T: Comparable>")
        add(WEAK, "<T: BinaryInteger, U: BinaryInteger>", r="U")
    elif a in ("==", "!="):
        if re.match(r"\s*nil\b", follows):
            add(PLAIN, "<T>", "T?", "_OptionalNilComparisonType")
        else:
            add(PLAIN, "<T: Equatable>")
            add(WEAK, "<T: StringProtocol, U: StringProtocol>", r="U")
    elif a in ("&&", "||"):
        add(LAZY)
    elif a in ("+", "-"):
        add(PLAIN, "<T: AdditiveArithmetic>", t="T")
        lines.append(f"public func {o} <T: InstantProtocol>(a: T, b: T.Duration) -> T "
                     f"{{ changed({n}) ? a.advanced(by: {'.zero - b' if b == '-' else 'b'}) "
                     f": a.advanced(by: {'.zero - b' if a == '-' else 'b'}) }}")
        add(WEAK, l="Date", r="TimeInterval", t="Date")
    elif a == "*":
        add(PLAIN, "<T: Numeric>", t="T")
    elif a == "/":
        add(PLAIN, "<T: BinaryInteger>", t="T")
        add(PLAIN, "<T: FloatingPoint>", t="T")
        add(WEAK, "<U: BinaryInteger>", "Duration", "U", "Duration")
        add(WEAK, "", "Duration", "Double", "Duration")
    elif a in ("%", "&", "|", "^"):
        add(PLAIN, "<T: BinaryInteger>", t="T")
    elif a in ("<<", ">>"):
        add(PLAIN, "<T: BinaryInteger, U: BinaryInteger>", r="U", t="T")
    elif a in ("+=", "-="):
        lines.append(ASSIGNING.format(o=o, a=a, b=b, n=n))
    elif a == "..<":
        lines.append(HALF_OPEN.format(o=o, n=n))
    elif a == "...":
        lines.append(CLOSED.format(o=o, n=n))
    return "\n".join(lines)


def edits(site, text):
    """What is written at a place in the program of all mutants: parts of the text and what they become."""
    if site.kind == "statement":
        return [(site.start, site.start, f"if !changed({site.number}) {{ "), (site.end, site.end, " }")]
    if site.kind in ("condition", "flag"):
        value = site.replacement if site.kind == "condition" else "nil"
        return [(site.start, site.start, f"changedCondition({site.number}, {value}, "), (site.end, site.end, ")")]
    return [written(site, text)]


def written(site, text):
    """What stands at the place of an operator in the program of all mutants: start, end, text."""
    a, b, n, start, end = site.original, site.replacement, site.number, site.start, site.end
    if site.isCharacter:
        return start - 1, end + 1, f'(changed({n}) ? "{b}" : "{a}")'
    if a == "!" or a in GROUPS:
        return start, end, a + arrows(n)
    if a == "continue":
        label = re.match(r"[ \t]+\w+", text[end:])
        label = label.group() if label else ""
        return start, end + len(label), f"if changed({n}) {{ break{label} }} else {{ continue{label} }}"
    if a in ("min", "max"):
        name = f"changed{a.capitalize()}({n}"
        begin = start - 6 if text[start - 6:start] == "Swift." else start
        return begin, end + 1, name if text[end:end + 2] == "()" else name + ", "
    if a in ("first", "last"):
        name = f"changed{a.capitalize()}({n}"
        if text[end] == "(":
            return start, end + 1, name + ", "
        return start, end, name + ")"
    if a in ("prefix", "suffix", "dropFirst", "dropLast"):
        name = f"changed{a[0].upper() + a[1:]}({n}"
        return start, end + 1, name if text[end:end + 2] == "()" else name + ", "
    return start, end, f"(changed({n}) ? {b} : {a})"


def woven(text, places, is_core):
    """A file with all its places in it. Its lines stay what they are."""
    all_edits = [edit for place in places for edit in edits(place, text)]
    # Of two at one position, what closes comes before what opens, and a change of the text comes last.
    for start, end, put in sorted(all_edits, key=lambda edit: (edit[0], edit[1] > edit[0], edit[2][-1:] not in ")}"),
                                  reverse=True):
        text = text[:start] + put + text[end:]
    return text if is_core else "import PenstockCore; " + text


def declarations(places, texts):
    """The file that declares all operators."""
    return SUPPORT + "\n".join(filter(None, (declared(p, texts[p.path][p.end:p.end + 8]) for p in places))) + "\n"


def blamed(errors, places):
    """The places that the compiler's errors (path, line, words) point at: the one whose operator the words name,
    or else the nearest."""
    by_file, by_arrows = {}, {}
    for place in places:
        by_file.setdefault(place.path, []).append(place)
        if place.kind == "operator":
            by_arrows[arrows(place.number)] = place
    sure, near = set(), set()
    for path, line, words in errors:
        named = [by_arrows[match] for match in re.findall(r"[\u2190-\u21ff]{2}", words) if match in by_arrows]
        own = by_file.get(path, [])
        if "reasonable time" in words:
            sure.update(p for p in own if line <= p.line <= line + 4)
        elif "missing return" in words:
            # A loop that is left by `break` now, and has nothing behind it.
            sure.update(p for p in own if p.original == "continue" and line - 80 < p.line < line)
        elif name := re.search(r"'(\w+)' (?:used|captured by a closure) before being init", words):
            # What is set in one place only has to be set there.
            sure.update(p for p in own if p.kind == "statement" and p.before.startswith(name[1] + " ") and p.line <= line)
        elif named:
            sure.update(named[:1])
        elif own:
            # The compiler counts the columns of the woven text, so a line is taken as a whole; of ranges it says the type.
            here = [p for p in own if p.line == line and ("MutantRange" not in words or p.original in ("..<", "..."))]
            if here and "does not conform to protocol" not in words:
                sure.update(here)
            else:
                least = min(abs(p.line - line) for p in own)
                near.update(p for p in own if abs(p.line - line) == least)
    return sure | near if len(errors) < 40 else sure or near
