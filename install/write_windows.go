package install

func mayWrite(string) error { return nil } // access rules decide there, and only trying it would tell
