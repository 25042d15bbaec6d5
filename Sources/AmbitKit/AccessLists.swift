internal import Wire

/// Which documents this app keeps its access to from one launch to the next, and how many it may: by the policy that it was launched
/// with, which may be another system's rule. The names are those of Windows' `StorageApplicationPermissions`.
public struct AccessLists: Sendable, Hashable {
  /// A document that the app used lately.
  public struct Entry: Sendable, Hashable, Codable {
    /// The user's decision that it belongs to.
    public let grant: String
    /// The document's file name.
    public let name: String
    /// When it was last started, or else picked; as RFC 3339 has it.
    public let lastUsed: String
    /// A bookmark or a reference was made of it: it stays when it falls out of the list.
    public let isKept: Bool
  }

  /// Documents that are kept until they are given up, by a bookmark or a reference; under most policies, all that the user picked.
  public struct FutureAccessList: Sendable, Hashable {
    /// How many are kept now.
    public let count: Int
    /// One more is refused, or ends the oldest, as the policy has it; nil: there is no limit.
    public let maximumItemsAllowed: Int?
  }

  /// The documents used last. The app has lost one that falls out of this list and is not kept.
  public struct MostRecentlyUsedList: Sendable, Hashable {
    /// Newest first.
    public let entries: [Entry]
    /// How long it can be.
    public let maximumItemsAllowed: Int
  }

  /// The name of the policy's rule: `unlimited`, `android`, `windows`, …, or a number.
  public let profile: String
  /// Documents that are kept until they are given up.
  public let futureAccessList: FutureAccessList
  /// Nil where the policy's rule knows no such list: then nothing is lost for not being used.
  public let mostRecentlyUsedList: MostRecentlyUsedList?

  /// Asks the broker.
  public static func current() throws -> AccessLists {
    do {
      let reply: AccessInterface.KeptReply = try Broker.call(AccessInterface.kept)
      return AccessLists(reply)
    } catch { throw error.cocoa() }
  }

  init(_ reply: AccessInterface.KeptReply) {
    profile = reply.profile
    futureAccessList = .init(count: reply.kept, maximumItemsAllowed: reply.maximum)
    mostRecentlyUsedList = reply.recentMaximum.map { maximum in
      .init(
        entries: reply.recent.map { .init(grant: $0.grant, name: $0.name, lastUsed: $0.used, isKept: $0.kept) },
        maximumItemsAllowed: maximum)
    }
  }
}
