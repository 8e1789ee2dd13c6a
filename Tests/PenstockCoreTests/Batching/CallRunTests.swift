import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Several calls as one, and those who may end them.
@Suite(.timeLimit(.minutes(5))) struct CallRunTests {
    @Test("A call of a batch that is being begun while everything is ended is ended as well")
    func begins() async {
        let script = CallSupport.holding(1)
        let ending = Box<APIClient?>(nil)
        let asked = Box(0)
        let client = CallSupport.client(script) {
            // The batch asks for whom it is, and then its call does, which is in no table yet.
            $0.identity = {
                let isCall = asked.update { count in
                    count += 1
                    return count > 1
                }
                if isCall { ending.value?.cancelAll() }
                return "alice"
            }
        }
        asked.value = 0
        ending.value = client
        let results = await client.batchResults([Hello()])
        #expect(results.map(\.failure?.kind) == [.cancelled])
        #expect(script.requests.isEmpty)
        ending.value = nil
    }
}
