import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct `A value of the wrong type is named with key path and expectation` {
  @Test func `the fixtures have none`() throws {
    for name in try ManifestFixtures.names() {
      let list = try PropertyListFile(bytes: try ManifestFixtures.bytes(name), path: name)
      #expect(ShapeFault.all(in: list).isEmpty, "\(name)")
    }
  }

  /// Every value of a tree, one at a time, replaced by another; with the path of the one that was.
  private static func replaced(
    _ node: PropertyListNode, by other: PropertyListNode, _ path: KeyPath = KeyPath()
  ) -> [(path: KeyPath, node: PropertyListNode)] {
    switch node.value {
    case .dictionary(let entries):
      return entries.indices.flatMap { index in
        let path = path.key(entries[index].key)
        return ([(path, other)] + replaced(entries[index].node, by: other, path)).map { changed in
          var copy = entries
          copy[index] = PropertyListEntry(key: entries[index].key, node: changed.1)
          return (changed.0, PropertyListNode(.dictionary(copy)))
        }
      }
    case .array(let members):
      return members.indices.flatMap { index in
        let path = path.index(index)
        return ([(path, other)] + replaced(members[index], by: other, path)).map { changed in
          var copy = members
          copy[index] = changed.1
          return (changed.0, PropertyListNode(.array(copy)))
        }
      }
    default: return []
    }
  }

  @Test(arguments: try ManifestFixtures.names().filter { $0 != "big.Info.plist" })
  func `wherever in a file it is`(name: String) throws {
    let top = try PropertyList.parse(try ManifestFixtures.bytes(name))
    let kind: ManifestListing.Kind = name.hasSuffix(".entitlements") ? .entitlements : .manifest
    // Of a date no known key may be.
    for changed in Self.replaced(top, by: PropertyListNode(.date(0))) {
      let list = PropertyListFile(path: name, entries: changed.node.dictionary ?? [])
      let faults = ShapeFault.all(in: list, as: kind)
      #expect(faults.count <= 1)
      let keys = changed.path.steps.compactMap { step in if case .key(let key) = step { key } else { nil } }
      let shape = kind == .manifest ? KeyShape.manifest : KeyShape.entitlement
      let names = [KeyVocabulary.withoutVariant(keys.first ?? "")] + keys.dropFirst()
      if case .key = changed.path.steps.last, let expected = shape(names) {
        #expect(faults.first?.path == changed.path && faults.first?.expected == expected.expected)
        #expect(faults.first?.sentence == "\(changed.path) must be \(expected.expected), and is a date.")
      }
      // Whatever it is, the listing has it, and an app is run or refused with a sentence.
      #expect(
        ManifestListing(list, as: kind).rows.contains { $0.path == changed.path } || keys.isEmpty
          || changed.path.steps.last.map { if case .index = $0 { true } else { false } } == true)
      do throws(AppBundleError) {
        if kind == .manifest { _ = try AppManifest(list, folderName: "App") } else { _ = try Entitlements(list) }
      } catch {
        #expect(error.description.hasPrefix("\(name)"))
      }
    }
  }

  @Test func `of a list the member that is wrong is named`() throws {
    let list = try PropertyListFile(
      bytes: Array(
        Fixture.list(
          """
          <key>CFBundleDocumentTypes</key><array><dict/><string>x</string>
          <dict><key>LSItemContentTypes</key><array><string>a</string><integer>1</integer></array></dict></array>
          <key>UIRequiredDeviceCapabilities~ipad</key><true/>
          """
        ).utf8), path: "Info.plist")
    #expect(
      ShapeFault.all(in: list).map(\.sentence) == [
        "CFBundleDocumentTypes[1] must be a dictionary, and is a string.",
        "CFBundleDocumentTypes[2].LSItemContentTypes[1] must be a string, and is a number.",
        "UIRequiredDeviceCapabilities~ipad must be a dictionary or an array of strings, and is a boolean.",
      ])
    #expect(ShapeFault.all(in: list).map(\.line) == [3, 4, 5])
  }
}
