import PenstockCore

/// The APIs of an app, split over files that do not touch each other.
enum Catalogue {
    enum V1 {}
    enum V2 {}
}
