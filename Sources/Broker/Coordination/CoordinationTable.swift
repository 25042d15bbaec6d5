internal import BrokerCore
internal import Coordination
internal import Paths
internal import Wire

extension CoordinationService {
  /// An access that is not over.
  @BrokerLoop
  final class Access {
    let id: Int
    /// `nil`: a program that coordinates nothing waits in `open(2)`.
    let connection: WireConnection?
    let instance: Instance?
    let party: Party
    let request: Coordination.Request
    let items: [NamedItem]
    /// The same as the client named them.
    let names: [String]
    /// Where its items are by now.
    var paths: [PathKey]
    let wait = Wait<Outcome>()
    /// Bytes that its paths take.
    let room: Int
    var isGranted = false
    /// The presenters that were asked, as the log has them.
    var asked: [String] = []
    /// Earlier accesses that it went before.
    var overtaken: [String] = []
    /// Moves that its own side has told of.
    var moves: Set<PresentedFiles.Event> = []
    /// Nanoseconds of CLOCK_MONOTONIC.
    let arrived: Int64
    var granted: Int64?
    /// The facts by which it is decided, for the log and for the user.
    var arbitration: InspectorInterface.Arbitration
    var toldMoves: [InspectorInterface.ItemMove] = []

    init(
      _ id: Int, _ request: Coordination.Request, _ items: [NamedItem], names: [String] = [],
      on connection: WireConnection? = nil, of instance: Instance? = nil, room: Int = 0, arrived: Int64
    ) {
      (self.id, self.names) = (id, names)
      (self.connection, self.instance, self.request, self.items) = (connection, instance, request, items)
      (party, paths) = (request.party, request.intents.map(\.item.path))
      (self.room, self.arrived) = (room, arrived)
      arbitration = CoordinationService.arbitration(request, arrived: arrived)
    }
  }

  enum Outcome {
    case granted([PathKey])
    case refused(Refusal)
    /// It could not be written down.
    case unrecorded(String)
  }
}

/// The accesses and presenters that are not over, and the numbers by which the arbiter knows them and their processes.
@BrokerLoop
struct CoordinationTable {
  private(set) var accesses: [Int: CoordinationService.Access] = [:]
  private(set) var presenters: [Int: CoordinationService.Presented] = [:]
  private(set) var room = CoordinationRoom()
  private(set) var clients: [Client: Int] = [:]
  private var nextID = 1

  /// A process of an instance, or of the user's.
  struct Client: Hashable {
    let instance: String?
    let pid: Int32
  }

  mutating func takeID() -> Int {
    defer { nextID += 1 }
    return nextID
  }

  // MARK: Accesses and presenters

  mutating func add(_ access: CoordinationService.Access) {
    accesses[access.id] = access
    room.add(access)
  }

  mutating func removeAccess(_ id: Int) -> CoordinationService.Access? {
    guard let access = accesses.removeValue(forKey: id) else { return nil }
    room.remove(access)
    return access
  }

  mutating func add(_ presenter: CoordinationService.Presented, as id: Int) {
    presenters[id] = presenter
    room.add(presenter)
  }

  mutating func removePresenter(_ id: Int) {
    guard let presenter = presenters.removeValue(forKey: id) else { return }
    room.remove(presenter)
  }

  mutating func setItem(_ item: NamedItem, of presenter: Int) { presenters[presenter]?.item = item }

  mutating func setUnsaved(_ isUnsaved: Bool, of presenter: Int) {
    presenters[presenter]?.hasUnsavedChanges = isUnsaved
  }

  // MARK: Processes

  /// - Returns: its number, and whether it had none before.
  mutating func client(_ client: Client) -> (Int, isNew: Bool) {
    if let id = clients[client] { return (id, false) }
    let id = takeID()
    clients[client] = id
    return (id, true)
  }

  private static let fewClients = 64
  private static let mostClients = 4096

  /// Of the user's side there is a new process with each command, and an app can make many.
  mutating func forgetPrograms(except used: @autoclosure () -> [Int]) {
    guard clients.count > Self.fewClients else { return }
    let areFew = clients.count <= Self.mostClients
    let used = Set(used())
    clients = clients.filter { $0.key.instance != nil && areFew || used.contains($0.value) }
  }

  mutating func forget(_ instance: Instance) { clients = clients.filter { $0.key.instance != instance.id } }
}

/// How many accesses and presenters there are, by their connections and launches: no client fills the broker.
@BrokerLoop
struct CoordinationRoom {
  private var accesses: [ObjectIdentifier: Int] = [:]
  /// Items of a launch's accesses and presenters, and the bytes of their paths. The user's side has no launch.
  private var launches: [ObjectIdentifier?: (items: Int, bytes: Int)] = [:]

  private static let mostOfConnection = 64
  private static let mostOfApp = 1024
  private static let mostOfUser = 8192
  /// The arbiter keeps each folder of a path: so many bytes, for all paths of one launch.
  private static let mostBytes = 8 << 20

  /// Of paths and of all folders around each, in bytes.
  nonisolated static func bytes(of paths: [String]) -> Int {
    var bytes = 0
    for path in paths { bytes += path.utf8.count * path.utf8.count { $0 == UInt8(ascii: "/") } / 2 }
    return bytes
  }

  private nonisolated static func key(_ instance: Instance?) -> ObjectIdentifier? {
    if let instance { ObjectIdentifier(instance) } else { nil }
  }

  /// - Parameters:
  ///   - items: new ones.
  ///   - bytes: that they take.
  func has(_ items: Int, _ bytes: Int, on connection: WireConnection, of instance: Instance?) -> Bool {
    let used = launches[Self.key(instance)] ?? (0, 0)
    return accesses[ObjectIdentifier(connection), default: 0] < Self.mostOfConnection
      && used.items + items <= (instance == nil ? Self.mostOfUser : Self.mostOfApp)
      && used.bytes + bytes <= Self.mostBytes
  }

  mutating func add(_ access: CoordinationService.Access) { count(access, 1) }
  mutating func remove(_ access: CoordinationService.Access) { count(access, -1) }
  mutating func add(_ presenter: CoordinationService.Presented) { count(presenter.instance, 1, presenter.room) }
  mutating func remove(_ presenter: CoordinationService.Presented) { count(presenter.instance, -1, -presenter.room) }

  /// A program that coordinates nothing has no connection, and takes no client's room.
  private mutating func count(_ access: CoordinationService.Access, _ step: Int) {
    guard let connection = access.connection else { return }
    let key = ObjectIdentifier(connection)
    let count = accesses[key, default: 0] + step
    accesses[key] = count > 0 ? count : nil
    self.count(access.instance, step * access.items.count, step * access.room)
  }

  private mutating func count(_ instance: Instance?, _ items: Int, _ bytes: Int) {
    let key = Self.key(instance)
    let used = launches[key] ?? (0, 0)
    let now = (items: used.items + items, bytes: used.bytes + bytes)
    launches[key] = now.items > 0 ? now : nil
  }
}
