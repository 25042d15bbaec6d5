import Launcher

AmbitLauncher.main()
