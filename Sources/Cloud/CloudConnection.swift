internal import CloudSync
internal import Kernel
internal import Wire

/// A device's connection to its cloud. It connects again after every failure. Calls go one after the other.
final class CloudConnection {
  /// The reason why a call has no answer.
  enum Failure: Error {
    /// It may have taken effect.
    case lost(String)
    case notAuthenticated
    case noSuchContent
    case tooOld
    /// The device cannot go on with this cloud (``KnownCloud``).
    case another(String)
  }

  private let socket: String
  private let device: String
  private let token: String?
  private let known: KnownCloud?
  private var client: WireClient?

  /// - Parameter known: `nil`: any cloud will do.
  init(socket: String, device: String, token: String?, known: KnownCloud? = nil) {
    (self.socket, self.device, self.token, self.known) = (socket, device, token, known)
  }

  private func call(
    _ method: String, _ parameters: JSONObject, descriptors: [Descriptor] = []
  ) throws(Failure) -> WireClient.Answer {
    let client = try connected()
    return try answered { () throws(WireError) in try client.call(method, parameters, descriptors: descriptors) }
  }

  private func answered<Value>(_ body: () throws(WireError) -> Value) throws(Failure) -> Value {
    do throws(WireError) { return try body() } catch {
      if case .remote(let name, _) = error {
        switch name {
        case CloudInterface.Failure.notAuthenticatedName: throw .notAuthenticated
        case CloudInterface.Failure.noSuchContentName: throw .noSuchContent
        case CloudInterface.Failure.tooOldName: throw .tooOld
        default: throw .lost("\(error)")
        }
      }
      client = nil
      throw .lost("\(error)")
    }
  }

  private func connected() throws(Failure) -> WireClient {
    if let client { return client }
    let (client, answer) = try answered { () throws(WireError) in
      let client = try WireClient(address: "unix:\(socket)")
      let call = CloudInterface.SignInCall(device: device, token: token)
      return (client, try client.call(CloudInterface.signIn, call.json))
    }
    let reply: CloudInterface.SignInReply = try decoded(answer)
    if let refusal = known?.refusal(of: reply.cloud, at: reply.revision) {
      throw .another("the cloud at \(socket) \(refusal)")
    }
    self.client = client
    return client
  }

  private func decoded<Message: WireMessage>(
    _ answer: WireClient.Answer, as type: Message.Type = Message.self
  ) throws(Failure) -> Message {
    do { return try Message(json: answer.parameters) } catch { throw .lost("the cloud's answer: \(error)") }
  }

  func changes(since: Int, deletionsSince: Int?) throws(Failure) -> CloudPage {
    let call = CloudInterface.ChangesCall(since: since, limit: 1000, deletionsSince: deletionsSince)
    let reply: CloudInterface.ChangesReply = try decoded(self.call(CloudInterface.changes, call.json))
    guard let page = CloudPage(reply) else { throw .lost("the cloud's answer has an item out of bounds") }
    // Otherwise it would be asked without a pause and without end.
    guard !page.more || (page.next > since && !page.items.isEmpty) else {
      throw .lost("the cloud has more to tell, and goes on telling nothing")
    }
    known?.note(page.revision)
    return page
  }

  /// Waits for another revision, for half a minute at most.
  func await(_ revision: Int) throws(Failure) -> Int {
    let reply: CloudInterface.AwaitReply = try decoded(
      call(CloudInterface.await, CloudInterface.AwaitCall(revision: revision).json))
    return reply.revision
  }

  func apply(_ changes: [KeyedChange]) throws(Failure) -> [CloudAnswer] {
    let call = CloudInterface.ApplyCall(changes: changes.map { .init(key: $0.key, change: .init($0.change)) })
    let reply: CloudInterface.ApplyReply = try decoded(self.call(CloudInterface.apply, call.json))
    let answers = reply.answers.compactMap(\.answer)
    guard answers.count == changes.count else { throw .lost("the cloud's answer lacks an item") }
    return answers
  }

  /// - Parameter files: ``CloudServer/mostContents`` at most.
  func upload(_ files: [Descriptor]) throws(Failure) -> [(content: String, size: Int64)] {
    let reply: CloudInterface.UploadReply = try decoded(call(CloudInterface.upload, [:], descriptors: files))
    guard reply.contents.count == files.count else { throw .lost("the cloud's answer lacks a content") }
    guard reply.contents.allSatisfy(\.isInBounds) else { throw .lost("the cloud's answer has a content out of bounds") }
    return reply.contents.map { ($0.content, Int64($0.size)) }
  }

  /// - Parameter contents: ``CloudServer/mostContents`` at most.
  func download(_ contents: [String]) throws(Failure) -> [Descriptor] {
    let answer = try call(CloudInterface.download, CloudInterface.DownloadCall(contents: contents).json)
    guard answer.descriptors.count == contents.count else { throw .lost("a descriptor of a content did not come") }
    return answer.descriptors
  }
}
