"""TRUSTED: what runs where the user is (Paper: §2.2). The real location lives only here."""
