import Foundation
import Penstock
import PenstockTesting

/// `penstockctl replay`: a server on this machine that answers as an archive says.
enum ReplayCommand {
    static let table = [
        OptionRule(
            names: ["--recorded-dates"], placeholder: nil,
            help: "leave Date, Expires and the like as they were recorded, and do not move them to the present"),
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard arguments.operands.count == 1, let path = arguments.operands.first else {
            throw UsageError("one archive is wanted")
        }
        let answers: ReplayAnswers
        do throws(HARError) {
            answers = try ReplayAnswers(
                HARAnswers.read(URL(fileURLWithPath: path)) { Console.note("\(path): \(ReportCommand.text($0))") },
                shiftsDates: !arguments.has("--recorded-dates"))
        } catch {
            // What cannot be read is named by its reason.
            if case .unusableFile(let reason) = error { throw UsageError(Redaction.text(reason)) }
            throw UsageError("\(Redaction.text(path)): \(ReportCommand.text(error))")
        }
        if let first = answers.missing.first {
            Console.note("\(ReportCommand.text(first)); \(answers.missing.count) such answers are refused")
        }
        return await LoopbackService.serve("\(answers.count) answers are served") { request in
            answers.answer("\(request.method)", request.target)
        }
    }
}

/// The answers of an archive to requests by method and target: each of several in its turn, and then the last one again. The host
/// is not looked at, since those who ask here ask this machine: an archive of several hosts answers for all of them.
final class ReplayAnswers: Sendable {
    let count: Int
    /// Why answers are refused whose content the archive does not have.
    let missing: [HARError]
    private let answers: [String: [HARAnswers.Answer]]
    private let shiftsDates: Bool
    private let turns = Locked<[String: Int]>([:])

    /// - Parameter shiftsDates: whether the dates of answers are those of now.
    /// - Throws: ``HARError/missingContent(entry:)`` where no answer can be given.
    init(_ recorded: [HARAnswers.Answer], shiftsDates: Bool) throws(HARError) {
        var missing: [HARError] = []
        for answer in recorded {
            do throws(HARError) { _ = try answer.response } catch { missing.append(error) }
        }
        if let first = missing.first, missing.count == recorded.count { throw first }
        answers = Dictionary(grouping: recorded) { "\($0.method) \($0.target)" }
        count = recorded.count - missing.count
        self.missing = missing
        self.shiftsDates = shiftsDates
    }

    func answer(_ method: String, _ target: String) -> LoopbackServer.Response {
        // What is secret stands in an archive as a mark, so it is no part of what is looked for.
        let key = "\(method) \(HARAnswers.comparable(target))"
        guard let known = answers[key] else {
            return .text("the archive has no answer to \(key)\n", status: 404)
        }
        let turn = turns.withLock { turns in
            defer { turns[key, default: 0] += 1 }
            return turns[key, default: 0]
        }
        return response(known[min(turn, known.count - 1)])
    }

    /// What cannot be answered is no error of the server's that would be asked for again.
    private func response(_ answer: HARAnswers.Answer) -> LoopbackServer.Response {
        do throws(HARError) {
            let response = try shiftsDates ? answer.response(at: Date()) : answer.response
            return .standing(for: response, response.fields, toMethod: answer.method)
        } catch {
            Console.note(ReportCommand.text(error))
            return .text("\(ReportCommand.text(error))\n", status: 501)
        }
    }
}
