#pragma once

/// syncfs(2): waits until everything on the file system of the descriptor is on the disk.
///
/// Returns 0, or -errno.
int ambit_sync_file_system(int descriptor);
