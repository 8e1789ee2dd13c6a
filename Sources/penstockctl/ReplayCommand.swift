import Foundation
import Penstock
import PenstockTesting

/// `penstockctl replay`: a server on this machine that answers as an archive says.
enum ReplayCommand {
    static let table = [
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]

    static func run(_ arguments: Arguments) async throws(UsageError) -> Int32 {
        guard arguments.operands.count == 1, let path = arguments.operands.first else {
            throw UsageError("one archive is wanted")
        }
        let answers: ReplayAnswers
        do throws(HARError) {
            answers = ReplayAnswers(try HARAnswers.read(URL(fileURLWithPath: path)))
        } catch {
            throw UsageError("\(path): \(ReportCommand.text(error))")
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
    private let answers: [String: [LoopbackServer.Response]]
    private let turns = Locked<[String: Int]>([:])

    init(_ recorded: [HARAnswers.Answer]) {
        var answers: [String: [LoopbackServer.Response]] = [:]
        for answer in recorded {
            answers["\(answer.method) \(answer.target)", default: []].append(Self.response(answer))
        }
        self.answers = answers
        count = recorded.count
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
        return known[min(turn, known.count - 1)]
    }

    private static func response(_ answer: HARAnswers.Answer) -> LoopbackServer.Response {
        LoopbackServer.Response(
            status: answer.response.status, fields: answer.response.fields, body: answer.response.body)
    }
}
