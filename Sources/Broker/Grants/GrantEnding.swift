internal import Kernel
internal import ScopedAccess

/// How a grant comes to its end.
struct GrantEnding {
  /// `user`, `app`, `quota`, `reference`, `removed`, `lifetime`.
  let how: String
  let rule: String
  let reason: String
  /// Active scopes end as well; otherwise a started document stays so until it is stopped.
  var endsScopes = true
}

/// A grant that has ended, and the remains of it.
struct EndedGrant {
  let grant: Grant
  var scopes = 0
  var outlived: [Hold] = []
  var killed = false
}
