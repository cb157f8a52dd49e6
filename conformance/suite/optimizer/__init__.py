"""Cases of the optimizers, the updater and the learning rate schedulers."""
