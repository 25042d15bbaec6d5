public import Foundation
internal import Paths
internal import Wire

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The scopes behind `URL.startAccessingSecurityScopedResource()`: those of this process, counted and limited, with reasons where
/// the URL's own methods only answer true or false.
///
/// Starts are counted by document and process, on any thread or connection. A process's scopes end with it; a program that it
/// becomes (`exec`) goes on with its starts, and a process that it makes (`fork`) begins with none. All processes of an app can
/// open a document that one of them has started: they share their view of the files.
public enum SecurityScope {
  /// For which process a start, a stop or a question counts.
  public enum Counted: Sendable {
    /// The one that calls.
    case thisProcess
    /// The one that has started it, as the kernel knows it; for commands that a script runs, since the command's own scopes end
    /// with it. Where that is no process of this app, the one that calls.
    case parent

    var message: CountedProcess? { self == .parent ? .parent : nil }
  }

  /// How many scopes are used, how many there are, and their holders (`LIM-8`).
  public struct Status: Sendable, Hashable, Codable {
    /// Documents that have an active scope now, however often each was started.
    public let used: Int
    /// How many the process can have active at a time; set by the policy the app was launched with.
    public let limit: Int
    /// The active ones.
    public let holders: [Holder]
  }

  /// One active scope of the process.
  public struct Holder: Sendable, Hashable, Codable {
    /// The user's decision that this scope belongs to; part of its path.
    public let grant: String
    /// Where the document appears.
    public let path: String
    /// The document's file name.
    public let name: String
    /// Starts that have not been balanced by a stop.
    public let count: Int
    /// When it was started, as RFC 3339 has it.
    public let since: String
    /// Where in the app it was started, for example `Editor/Open.swift:41`.
    public let caller: String?

    init(_ message: HolderMessage) {
      grant = message.grant
      path = message.path
      name = message.name
      count = message.count
      since = message.since
      caller = message.caller
    }
  }

  /// In the `userInfo` of the error that says that all scopes are in use: a `Status`.
  public static let statusErrorKey = "AmbitSecurityScopeStatus"

  /// Asks the broker which scopes of the process are active.
  public static func status(of counted: Counted = .thisProcess) throws -> Status {
    do {
      let call = AccessInterface.StatusCall(process: counted.message)
      let status: AccessInterface.StatusReply = try Broker.call(AccessInterface.status, call)
      return Status(used: status.used, limit: status.limit, holders: status.holders.map(Holder.init))
    } catch { throw error.cocoa() }
  }

  /// Makes the document of a scoped URL appear at the URL's path. Every start wants a stop (`TOK-4`).
  ///
  /// - Parameter caller: for people that look for a scope that was not stopped.
  /// - Returns: how many starts of this document the process has not balanced yet, this one included.
  /// - Throws: `CocoaError` with the reason: `fileReadNoPermission` when the scope is not one of this launch, was
  ///   withdrawn, or when all are in use (`EMFILE` underneath); `fileReadNoSuchFile` when the document is gone.
  @discardableResult
  public static func start(_ url: URL, caller: String? = nil, for counted: Counted = .thisProcess) throws -> Int {
    #if AMBIT_MUTANTS
      if Mutant.containerStarts.isActive, url.fragment == nil, Container.path(of: url) != nil { return 1 }
    #endif
    let call = AccessInterface.StartCall(scope: try scope(of: url), caller: caller, process: counted.message)
    do {
      let started: AccessInterface.StartReply = try Broker.call(AccessInterface.start, call)
      return started.count
    } catch { throw error.cocoa(for: url) }
  }

  /// Balances one start of the process; the last one takes the document away (`TOK-3`), unless another process has it started. With
  /// nothing started, nothing happens (`TOK-5`).
  ///
  /// - Returns: how many starts of this document the process has not balanced yet.
  @discardableResult
  public static func stop(_ url: URL, for counted: Counted = .thisProcess) throws -> Int {
    let call = AccessInterface.StopCall(scope: try scope(of: url), process: counted.message)
    do {
      let stopped: AccessInterface.StopReply = try Broker.call(AccessInterface.stop, call)
      return stopped.count
    } catch { throw error.cocoa(for: url) }
  }

  /// The path at which the document of a scoped URL appears once started; for something in a granted folder, its path
  /// in that folder.
  public static func path(of url: URL) throws -> String {
    let inside = try inside(url)
    let call = AccessInterface.ScopeCall(scope: try scope(of: url))
    do {
      let place: AccessInterface.PathReply = try Broker.call(AccessInterface.path, call)
      return place.path + inside
    } catch { throw error.cocoa(for: url) }
  }

  /// Why the last start or stop on this thread failed; nil when it succeeded.
  public static var lastError: CocoaError? { Thread.current.threadDictionary[lastErrorKey] as? CocoaError }

  private static let lastErrorKey = "io.ambit.SecurityScope.lastError"

  /// Runs a call, and remembers how it went.
  static func remembering<Value>(_ body: () throws -> Value) -> Value? {
    let dictionary = Thread.current.threadDictionary
    do {
      let value = try body()
      dictionary.removeObject(forKey: lastErrorKey)
      return value
    } catch {
      dictionary[lastErrorKey] = error
      return nil
    }
  }

  /// The token in the URL's fragment. For a URL without one the broker is not asked.
  static func scope(of url: URL) throws -> String {
    #if AMBIT_MUTANTS
      if Mutant.pathHasScope.isActive, url.fragment == nil, url.path.pathNames.first == "documents" { return url.path }
    #endif
    guard url.isFileURL, let fragment = url.fragment(percentEncoded: false),
      let scope = ScopedURLFormat.scope(fragment: fragment)
    else {
      throw CocoaError.make(
        .fileReadNoPermission, .EPERM, url,
        """
        The URL \(url.absoluteString) carries no security scope. A path or a string made of a scoped URL's path does \
        not have it; a file in the app's own container needs none.
        """)
    }
    return scope
  }

  /// The part of a URL's path behind the granted document's own: empty, or `/…` for something in a granted folder.
  ///
  /// - Throws: for a path that would lead out of that folder again.
  static func inside(_ url: URL) throws -> String {
    // documents, grant, name, …
    let names = url.path(percentEncoded: false).pathNames.dropFirst(3)
    #if AMBIT_MUTANTS
      if Mutant.twoDotsFollowed.isActive { return names.map { "/\($0)" }.joined() }
    #endif
    guard !names.contains("..") else {
      throw CocoaError.make(
        .fileReadInvalidFileName, .EINVAL, url, "The URL \(url.absoluteString) has “..” in it, and leads nowhere.")
    }
    return names.map { "/\($0)" }.joined()
  }

  /// The scope of the document itself; something in a granted folder has no right of its own.
  static func ownScope(of url: URL, for purpose: String) throws -> String {
    let inside = try inside(url)
    guard inside.isEmpty else {
      throw CocoaError.make(
        .fileReadNoPermission, .EPERM, url,
        "\(inside.lastPathName) lies in a folder that was picked, and only that folder can be \(purpose).")
    }
    return try scope(of: url)
  }
}
