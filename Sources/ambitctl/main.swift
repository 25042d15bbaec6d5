internal import ArgumentParser

AmbitControl.main()
