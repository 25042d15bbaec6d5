extension Arbiter {
  /// Finds requests and questions by their clients and parents.
  struct Index: Sendable {
    private var clients: [Int: Set<Int>] = [:]
    private var children: [Request.Parent: Set<Int>] = [:]
    /// Questions without an answer, by the presenter's client.
    private var asked: [Int: Set<Int>] = [:]

    mutating func insert(_ id: Int, _ request: Request) {
      clients[request.client, default: []].insert(id)
      for parent in request.parents { children[parent, default: []].insert(id) }
    }

    mutating func remove(_ id: Int, _ request: Request) {
      clients.take(id, of: request.client)
      for parent in request.parents { children.take(id, of: parent) }
    }

    mutating func insert(question: Int, to client: Int) { asked[client, default: []].insert(question) }
    mutating func remove(question: Int, to client: Int) { asked.take(question, of: client) }

    func isAsked(_ client: Int) -> Bool { asked[client] != nil }
    func questions(to client: Int) -> [Int] { asked[client]?.sorted() ?? [] }
    func requests(of client: Int) -> [Int] { clients[client]?.sorted() ?? [] }
    func children(of parent: Request.Parent) -> [Int] { children[parent]?.sorted() ?? [] }
  }
}

extension Dictionary where Value == Set<Int> {
  fileprivate mutating func take(_ number: Int, of key: Key) {
    self[key]?.remove(number)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
