import Kernel
import Testing

@testable import Launcher

@Suite struct `Standard streams` {
  private func handling(
    _ kind: StreamFacts.Kind, reads: Bool, writes: Bool, isPlace: Bool = false, isInput: Bool
  ) -> StreamHandling {
    StreamHandling(StreamFacts(kind: kind, reads: reads, writes: writes, isPlace: isPlace), isInput: isInput)
  }

  @Test func `I6: no file that is open is handed in, and no folder at all`() {
    for isInput in [true, false] {
      // For reading only, and for writing only, it is what it is.
      #expect(handling(.file, reads: true, writes: false, isInput: isInput) == .openedReadOnly)
      #expect(handling(.file, reads: false, writes: true, isInput: isInput) == .relayed(.fromApp))
      #expect(handling(.block, reads: true, writes: false, isInput: isInput) == .relayed(.toApp))
      #expect(handling(.block, reads: false, writes: true, isInput: isInput) == .relayed(.fromApp))
      for kind in StreamFacts.Kind.allCases {
        let place = handling(kind, reads: true, writes: false, isPlace: true, isInput: isInput)
        guard case .refused(let reason) = place else {
          Issue.record("\(kind) as a place: \(place)")
          continue
        }
        #expect(reason.contains("O_PATH"))
      }
      for kind: StreamFacts.Kind in [.folder, .other] {
        guard case .refused = handling(kind, reads: true, writes: false, isInput: isInput) else {
          Issue.record("\(kind) is handed in")
          continue
        }
      }
      for kind: StreamFacts.Kind in [.pipe, .socket, .character] {
        #expect(handling(kind, reads: true, writes: true, isInput: isInput) == .asItIs)
      }
    }
    // For both, the stream's own direction counts.
    #expect(handling(.file, reads: true, writes: true, isInput: true) == .openedReadOnly)
    #expect(handling(.file, reads: true, writes: true, isInput: false) == .relayed(.fromApp))
  }
}
