package outbox

func umask(int) int { return 0 }
