/// Messages of `io.ambit.Transfer`.
package enum TransferInterface {
  package static let name = "io.ambit.Transfer"
  package static let pass = "io.ambit.Transfer.Pass"
  package static let redeem = "io.ambit.Transfer.Redeem"

  package struct PassCall: WireMessage {
    package var scope: String
    /// Bundle identifier.
    package var to: String
    package var access: DocumentAccess
    package init(scope: String, to: String, access: DocumentAccess = .readOnly) {
      self.scope = scope
      self.to = to
      self.access = access
    }
    package init(json: JSONObject) throws(FieldError) {
      scope = try json.string("scope")
      to = try json.string("to")
      access = try json.choiceIfPresent("access") ?? .readOnly
    }
    package var json: JSONObject {
      ["scope": .string(scope), "to": .string(to), "access": .string(access.rawValue)]
    }
  }

  /// The answer of `Pass`, and the parameters of `Redeem`.
  package struct Transfer: WireMessage {
    /// Base64.
    package var transfer: String
    package init(transfer: String) { self.transfer = transfer }
    package init(json: JSONObject) throws(FieldError) { transfer = try json.string("transfer") }
    package var json: JSONObject { ["transfer": .string(transfer)] }
  }

  package struct RedeemReply: WireMessage {
    package var document: DocumentMessage
    package init(document: DocumentMessage) { self.document = document }
    package init(json: JSONObject) throws(FieldError) {
      document = try DocumentMessage(json: try json.object("document"))
    }
    package var json: JSONObject { ["document": .object(document.json)] }
  }

  package enum Failure {
    package static let notAllowedName = "io.ambit.Transfer.NotAllowed"
    package static let tooMuchName = "io.ambit.Transfer.TooMuch"
    package static let invalidScopeName = "io.ambit.Transfer.InvalidScope"
    package static let badSealName = "io.ambit.Transfer.BadSeal"
    package static let revokedName = "io.ambit.Transfer.Revoked"
    package static let notFoundName = "io.ambit.Transfer.NotFound"
    package static let quotaReachedName = "io.ambit.Transfer.QuotaReached"
    package static func notAllowed(_ reason: String) -> ErrorReply {
      ErrorReply(notAllowedName, ["reason": .string(reason)])
    }
    package static let tooMuch = ErrorReply(tooMuchName)
    package static let invalidScope = ErrorReply(invalidScopeName)
    package static func badSeal(_ reason: String) -> ErrorReply {
      ErrorReply(badSealName, ["reason": .string(reason)])
    }
    package static let revoked = ErrorReply(revokedName)
    package static func notFound(name: String) -> ErrorReply { ErrorReply(notFoundName, ["name": .string(name)]) }
    package static func quotaReached(limit: Int) -> ErrorReply {
      ErrorReply(quotaReachedName, ["limit": JSONValue(limit)])
    }
  }
}
