"""Cases of contexts: devices, copies between them, asynchronous execution, and where gluon puts its arrays."""
