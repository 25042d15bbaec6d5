package import Folders
internal import Kernel
internal import Paths
package import PickerUI
package import Wire

/// The question as it travels to the program that shows it as a page.
extension PickerRequest {
  package var json: JSONObject {
    var json: JSONObject = [
      "appName": .string(appName), "multiple": .bool(multiple), "folder": .bool(kind == .folder),
      "readOnly": .bool(access == .readOnly), "startFolder": .string(startFolder),
      "packages": .array(packages.sorted().map { .string($0) }),
      "places": .array(places.map { Self.json(of: $0) }),
      "browser": .bool(isBrowser), "creates": .bool(creates), "pestering": .bool(isPestering),
      "recents": .array(recents.map { .string($0) }), "acts": .string(acts.rawValue),
      "hidesExtensions": .bool(hidesExtensions),
      "actions": .array(
        actions.map { action in
          var json: JSONObject = [
            "identifier": .string(action.identifier), "title": .string(action.title),
            "documents": .bool(action.documents), "multiple": .bool(action.multiple),
          ]
          json.set("types", action.types)
          json.set("provider", action.provider)
          return .object(json)
        }),
    ]
    json.set("style", style?.rawValue)
    json.set("tint", tint?.text)
    json.set("message", message)
    json.set("notice", notice)
    json.set("types", types)
    json.set("allowed", allowed)
    switch purpose {
    case .open: json["purpose"] = "open"
    case .copy: json["purpose"] = "copy"
    case .export(let names): (json["purpose"], json["names"]) = ("export", .array(names.map { .string($0) }))
    case .move(let names): (json["purpose"], json["names"]) = ("move", .array(names.map { .string($0) }))
    }
    return json
  }

  private static func json(of place: Place) -> JSONValue {
    var json: JSONObject = ["name": .string(place.name), "path": .string(place.path)]
    json.set("provider", place.provider)
    return .object(json)
  }

  package init(json: JSONObject) throws(FieldError) {
    var places: [Place] = []
    for place in try json.objects("places") {
      places.append(
        .init(
          name: try place.string("name"), path: try place.string("path"),
          provider: try place.stringIfPresent("provider")))
    }
    self.init(
      appName: try json.string("appName"), message: try json.stringIfPresent("message"),
      multiple: try json.bool("multiple"), kind: try json.bool("folder") ? .folder : .file,
      access: try json.bool("readOnly") ? .readOnly : .readWrite, types: try json.stringsIfPresent("types"),
      allowed: try json.stringsIfPresent("allowed"), packages: Set(try json.strings("packages")), places: places,
      startFolder: try json.string("startFolder"))
    notice = try json.stringIfPresent("notice")
    (isBrowser, creates) = (try json.bool("browser"), try json.bool("creates"))
    (isPestering, recents) = (try json.bool("pestering"), try json.strings("recents"))
    acts = Acts(rawValue: try json.string("acts")) ?? .none
    hidesExtensions = try json.bool("hidesExtensions")
    style = try json.stringIfPresent("style").flatMap { Appearance(rawValue: $0) }
    tint = try json.stringIfPresent("tint").flatMap { Tint($0) }
    for action in try json.objects("actions") {
      actions.append(
        .init(
          identifier: try action.string("identifier"), title: try action.string("title"),
          documents: try action.bool("documents"), types: try action.stringsIfPresent("types"),
          multiple: try action.bool("multiple"), provider: try action.stringIfPresent("provider")))
    }
    let names = try json.stringsIfPresent("names") ?? []
    switch try json.string("purpose") {
    case "copy": purpose = .copy
    case "export": purpose = .export(names)
    case "move": purpose = .move(names)
    default: purpose = .open
    }
  }

  /// Why a document cannot be handed out, for the user to see; the broker decides.
  ///
  /// - Parameter rules: those of the user's folders.
  package func refusal(under rules: GrantRules) -> @Sendable (PickedDocument) -> String? {
    let (isDestination, shared) = (purpose.isDestination, places.map(\.path))
    return { document in
      if isDestination {
        // The folder is not handed to the app: it may be the home folder itself.
        return rules.refusal(of: .file, at: document.descriptor.currentPath?.path(of: "x"))
          .map { "Nothing can be put into \(document.name): \($0)." }
      }
      return rules.refusal(
        of: document.kind == .file ? .file : .folder, at: document.descriptor.currentPath, shared: shared
      ).map { "\(document.name) cannot be handed out: \($0)." }
    }
  }
}
