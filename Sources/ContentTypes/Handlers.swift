/// A kind of document that an app opens, as its bundle says (`CFBundleDocumentTypes`).
package struct DocumentClaim: Hashable, Sendable {
  /// How much an app is the one for a type (`LSHandlerRank`), the best first (`TYP-4`).
  package enum Rank: String, CaseIterable, Hashable, Sendable, Comparable {
    case owner = "Owner"
    case standard = "Default"
    case alternate = "Alternate"
    /// It never opens such documents by itself.
    case none = "None"

    package static func < (left: Self, right: Self) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  package enum Role: String, CaseIterable, Hashable, Sendable, Comparable {
    case editor = "Editor"
    case viewer = "Viewer"
    case shell = "Shell"
    case generator = "QLGenerator"
    case none = "None"

    package static func < (left: Self, right: Self) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  package var name: String?
  package var contentTypes: [String]
  /// Without dot, lower-case; `*`: any. They count only where no content type is named.
  package var extensions: [String]
  package var mimeTypes: [String]
  package var rank: Rank
  package var role: Role

  package init(
    name: String? = nil, contentTypes: [String], extensions: [String] = [], mimeTypes: [String] = [],
    rank: Rank = .standard, role: Role = .editor
  ) {
    (self.name, self.contentTypes, self.extensions) = (name, contentTypes, extensions)
    (self.mimeTypes, self.rank, self.role) = (mimeTypes, rank, role)
  }
}

/// An app's claim on the documents that it makes and opens.
package struct DocumentDeclarations: Hashable, Sendable {
  /// Exported and imported types.
  package var types: [TypeDeclaration]
  package var claims: [DocumentClaim]

  package init(types: [TypeDeclaration] = [], claims: [DocumentClaim] = []) {
    (self.types, self.claims) = (types, claims)
  }
}

/// An app that can open a file, and why.
package struct Handler: Hashable, Sendable {
  /// The app's bundle identifier.
  package let app: String
  package let claim: DocumentClaim
  /// The type of the claim that the file conforms to, or the extension.
  package let matched: String
  /// Steps from the file's type to that one; 0: the very type.
  package let distance: Int
  /// The rank that counts.
  package let rank: DocumentClaim.Rank
  /// Why another rank counts than the one that the app says; `nil`: it is the same.
  package let reason: String?
}

/// The apps that open a file (`TYP-4`).
package enum HandlerRules {
  /// Types that nearly every file is of.
  package static let broad: Set<String> = [
    "public.item", "public.data", "public.content", "public.composite-content", "public.folder", "public.directory",
  ]

  /// All apps that can open a file of a type, the best first: by rank, then by the nearness of the type, then editors before viewers.
  ///
  /// - Parameters:
  ///   - tree: with the declarations of these apps.
  ///   - name: the file's name, for claims by extension.
  package static func handlers(
    of type: String, named name: String, mimeType: String?, in tree: TypeTree,
    apps: [(identifier: String, declarations: DocumentDeclarations)]
  ) -> [Handler] {
    let ancestors = tree.ancestors(of: type).map { $0.lowercased() }
    let found = apps.flatMap { app in
      app.declarations.claims.compactMap { claim -> Handler? in
        guard let (matched, distance) = match(claim, ancestors, name, mimeType) else { return nil }
        let (rank, reason) = self.rank(claim, matched, app.identifier, tree)
        return Handler(
          app: app.identifier, claim: claim, matched: matched, distance: distance, rank: rank, reason: reason)
      }
    }
    let sorted = found.sorted {
      ($0.rank, $0.distance, $0.claim.role, $0.app) < ($1.rank, $1.distance, $1.claim.role, $1.app)
    }
    // An app once, by its best claim.
    var seen: Set<String> = []
    return sorted.filter { seen.insert($0.app).inserted }
  }

  private static func match(
    _ claim: DocumentClaim, _ ancestors: [String], _ name: String, _ mimeType: String?
  ) -> (String, Int)? {
    let types = claim.contentTypes.compactMap { type in
      ancestors.firstIndex(of: type.lowercased()).map { (type, $0) }
    }
    if let nearest = types.min(by: { $0.1 < $1.1 }) { return nearest }
    guard claim.contentTypes.isEmpty else { return nil }
    if let suffix = TypeDecider.suffix(of: name), claim.extensions.contains(suffix) { return ("." + suffix, 0) }
    if let mimeType, claim.mimeTypes.contains(mimeType) { return (mimeType, 0) }
    return claim.extensions.contains("*") ? ("*", ancestors.count) : nil
  }

  /// The owner of a type is the app that exports it. A claim to nearly every file never goes before one that names the type.
  private static func rank(
    _ claim: DocumentClaim, _ matched: String, _ app: String, _ tree: TypeTree
  ) -> (DocumentClaim.Rank, String?) {
    if claim.rank < .alternate, broad.contains(matched.lowercased()) || matched == "*" {
      return (.alternate, "\(claim.rank.rawValue) of \(matched) counts as Alternate: nearly every file is of it")
    }
    guard claim.rank == .owner, tree[matched]?.origin != .exported(by: app) else { return (claim.rank, nil) }
    return (.standard, "Owner counts as Default: \(app) does not export \(matched)")
  }
}
