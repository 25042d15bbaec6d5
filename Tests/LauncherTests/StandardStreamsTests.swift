import Kernel
import Sandbox
import Testing

@testable import Launcher

#if canImport(Glibc)
  import Glibc
#endif

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

  @Test func `F3: a socket that could be sent to any address is not handed in`() {
    for network in NetworkReach.allCases {
      for form in SocketKind.Form.allCases {
        for hasPeer in [true, false] {
          func refusal(_ family: SocketKind.Family) -> String? {
            StreamHandling.refusal(of: SocketKind(family, form), hasPeer: hasPeer, network: network)
          }
          let isOfUnix = form == .stream || form == .packets
          #expect((refusal(.unix) == nil) == isOfUnix, "\(form)")
          let isOfInternet =
            switch form {
            case .stream: hasPeer || network == .host
            case .packets, .datagrams: network == .host
            case .other: false
            }
          #expect((refusal(.internet) == nil) == isOfInternet, "\(form) \(hasPeer) \(network)")
          #expect(refusal(.other(AF_NETLINK))?.contains("AF_NETLINK; an app is not given that") == true)
        }
      }
    }
  }

  @Test func `a socket's kind and its peer are told`() throws {
    func made(_ family: Int32, _ type: Int32) throws -> Descriptor {
      Descriptor(owning: try KernelError.check("socket") { socket(family, type | Int32(SOCK_CLOEXEC.rawValue), 0) })
    }
    let (stream, datagrams) = (Int32(SOCK_STREAM.rawValue), Int32(SOCK_DGRAM.rawValue))
    for (family, type, kind) in [
      (AF_INET, stream, SocketKind(.internet, .stream)), (AF_INET, datagrams, SocketKind(.internet, .datagrams)),
      (AF_UNIX, datagrams, SocketKind(.unix, .datagrams)),
      (AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), SocketKind(.unix, .packets)),
      (AF_NETLINK, Int32(SOCK_RAW.rawValue), SocketKind(.other(AF_NETLINK), .other)),
    ] {
      let socket = try made(family, type)
      #expect(try SocketKind(of: socket) == kind)
      // The kernel itself is the peer of a netlink socket.
      #expect(socket.hasPeer == (family == AF_NETLINK))
    }
    let (one, other) = try UnixSocket.pair()
    #expect(one.hasPeer && other.hasPeer)
    #expect(try !Descriptor.open("/dev/null", flags: .read).hasPeer)
  }
}
