// ScopedAccess
