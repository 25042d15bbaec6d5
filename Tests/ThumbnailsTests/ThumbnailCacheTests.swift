import Foundation
import TestSupport
import Testing

@testable import Thumbnails

@Suite struct `The cache of thumbnails` {
  private let folder: TemporaryFolder
  private let cache: ThumbnailCache
  private let picture = PNG(width: 1, height: 1, pixels: [1, 2, 3, 255])

  init() throws {
    folder = try TemporaryFolder()
    cache = ThumbnailCache(environment: ["XDG_CACHE_HOME": folder.path])
  }

  @Test func `The standard's own example has its name`() {
    // The thumbnail managing standard, “Thumbnail Saving”.
    #expect(
      ThumbnailCache.Subject(path: "/home/jens/photos/me.png", modified: 0, size: 0).name
        == "c6ee772d9e49320e97ec29a7eb5b1697.png")
  }

  @Test func `A picture is found as long as its document is the same`() throws {
    let subject = ThumbnailCache.Subject(path: "/a/ü b.png", modified: 5, size: 7)
    #expect(cache.picture(of: subject, .large) == nil)
    try cache.keep(picture, of: subject, .large)
    let found = try #require(cache.picture(of: subject, .large))
    #expect(found.texts["Thumb::URI"] == "file:///a/%C3%BC%20b.png")
    #expect(found.texts["Thumb::MTime"] == "5")
    #expect(cache.picture(of: subject, .normal) == nil)
    #expect(cache.picture(of: .init(path: subject.path, modified: 6, size: 7), .large) == nil)
    #expect(cache.picture(of: .init(path: subject.path, modified: 5, size: 8), .large) == nil)
    let mode = try FileManager.default.attributesOfItem(atPath: cache.path(of: subject, .large))[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `A failure counts for the same document and the same program, and a picture ends it`() throws {
    let subject = ThumbnailCache.Subject(path: "/a", modified: 5, size: 7)
    try cache.note(.init(reason: "program: it was ended", thumbnailer: "x 1"), of: subject)
    #expect(cache.failure(of: subject, by: "x 1")?.reason == "program: it was ended")
    #expect(cache.failure(of: subject, by: "x 2") == nil)
    #expect(cache.failure(of: .init(path: "/a", modified: 6, size: 7), by: "x 1") == nil)
    try cache.keep(picture, of: subject, .normal)
    #expect(cache.failure(of: subject, by: "x 1") == nil)
  }

  @Test func `The smallest size that is large enough`() {
    #expect(
      [1, 128, 129, 256, 512, 1000, 1024].map { ThumbnailCache.Size(for: $0).rawValue } == [
        128, 128, 256, 256, 512, 1024, 1024,
      ])
  }
}
